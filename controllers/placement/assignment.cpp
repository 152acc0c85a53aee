#include "controllers/placement/assignment.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "controllers/placement/accelerator_cache.h"
#include "controllers/placement/claims.h"
#include "controllers/placement/domains/candidates.h"
#include "controllers/placement/domains/chosen_nodes.h"
#include "controllers/placement/hold_and_wait.h"
#include "controllers/placement/queue.h"
#include "controllers/placement/reservations.h"

namespace tpuslice::placement {
namespace {

using plan::WaitingCode;

/// Waiting reasons list domains for this many gangs.
constexpr std::size_t kMaxDetailedGangs = 20;
class Assigner {
 public:
  Assigner(const PlacementRequest& request, Inventory& inventory)
      : request_(request),
        placed_(*request.placed),
        inventory_(inventory),
        max_requirements_(AcceleratorCache::max_requirements(request.ready)),
        reservations_(request, inventory, by_slice_),
        claims_(request, inventory, by_slice_) {
    for (const auto& [slice, node] : request.scouts) {
      if (!node.empty()) scout_nodes_.insert(node);
    }
  }

  void assign(const Gang& gang) {
    reserve_kept_domains(gang.priority());
    for (const Slice* slice : gang.slices) {
      if (const KeptDomain* const kept = kept_domain(*slice)) {
        inventory_.release(kept->domain.first, kept->domain.second, kept->user);
      }
    }
    excluded_.clear();
    exclude_repaired(gang);
    for (const Slice* slice : gang.slices) {
      add_excluded(*slice, request_.rejected, request_.now, excluded_, out_.changes_at);
    }
    if (place(gang)) return;
    for (const Slice* slice : gang.slices) {
      if (const KeptDomain* const kept = kept_domain(*slice)) reserve(*kept);
    }
  }

  /// After all gangs.
  Assignment take() {
    claims_.take(out_);
    std::ranges::move(preempt_stalled(stalled_, claims_.claimed(), inventory_, request_.failed_writes),
                      std::back_inserter(out_.preemptions));
    if (const auto changes_at = reservations_.changes_at()) set_earlier(out_.changes_at, *changes_at);
    return std::move(out_);
  }

 private:
  void reserve(const KeptDomain& kept) { inventory_.reserve(kept.domain.first, kept.domain.second, kept.user); }

  void exclude_repaired(const Gang& gang) {
    for (const auto& [domain, until] : request_.repaired) {
      if (std::ranges::find(gang.slices, domain.first, &Slice::topology_key) == gang.slices.end()) continue;
      set_earlier(out_.changes_at, until);
      excluded_.emplace(domain.second, fmt::format("{} was repaired a moment ago, and is used from {} on",
                                                   domain.second, format_rfc3339(until)));
    }
  }

  void reserve_kept_domains(std::int32_t priority) {
    for (; reserved_kept_ < request_.kept.size(); ++reserved_kept_) {
      const KeptDomain& kept = request_.kept[reserved_kept_];
      if (kept.priority < priority) return;
      reserve(kept);
      kept_by_slice_.emplace(kept.slice, &kept);
    }
  }

  [[nodiscard]] const KeptDomain* kept_domain(const Slice& slice) const {
    const auto found = kept_by_slice_.find(slice.key);
    return found == kept_by_slice_.end() ? nullptr : found->second;
  }

  /// Whether all slices of the gang are placed; otherwise they wait.
  bool place(const Gang& gang) {
    const auto wanted = static_cast<std::size_t>(gang.slices.front()->gang_slices);
    if (const std::size_t size = gang.size(placed_.gangs); size < wanted && !heals(gang)) {
      wait(gang, WaitingCode::kGangIncomplete,
           fmt::format("{} of the {} slices that start together have all their pods", size, wanted));
      return false;
    }
    if (gang.slices.size() > 1) compare_domains(gang);
    std::vector<Found> found;
    bool any_chosen = false;
    for (const Slice* slice : gang.slices) {
      NodeRequirements requirements = node_requirements(*slice);
      const bool chosen = !requirements.hostnames.empty();
      any_chosen = any_chosen || chosen;
      std::optional<Found> one =
          chosen ? find_chosen(gang, *slice, requirements) : find_free(gang, *slice, std::move(requirements));
      if (!one) {
        put_back(found);
        return false;
      }
      if (!one->domain.empty()) found.push_back(*std::move(one));
    }
    if (found.size() == gang.slices.size()) {
      for (Found& each : found) {
        std::string concern = each.candidates == nullptr ? std::string() : each.candidates->concern(each.domain);
        out_.placements.push_back({each.slice, std::move(each.domain), std::move(each.nodes), std::move(concern)});
      }
      return true;
    }
    put_back(found);
    if (any_chosen) {
      wait(gang, WaitingCode::kChosenNodesInUse,
           "nodes are chosen for some of the slices that start together, and none is free for others");
    } else {
      wait_for_domains(gang);
    }
    return false;
  }

  /// Domains are compared before any slice of the gang occupies one, since put_back() may undo that.
  void compare_domains(const Gang& gang) {
    std::map<Candidates*, std::size_t> needed;
    for (const Slice* slice : gang.slices) {
      NodeRequirements requirements = node_requirements(*slice);
      if (!requirements.hostnames.empty()) continue;
      if (Candidates* candidates = candidates_for(*slice, std::move(requirements))) ++needed[candidates];
    }
    for (const auto& [candidates, slices] : needed) candidates->prefer_block(slices, excluded_);
  }

  bool heals(const Gang& gang) {
    const std::optional<Timestamp> from = gang.heals_from();
    if (from && request_.now < *from) set_earlier(out_.changes_at, *from);
    return from && request_.now >= *from;
  }

  /// A free domain for a slice.
  struct Found {
    const Slice* slice = nullptr;
    std::string topology_key;
    std::string domain;  ///< Empty: none is free.
    std::vector<std::string> nodes;
    Candidates* candidates = nullptr;  ///< Null for chosen nodes.
  };

  /// Absent if the gang waits for another reason than a lack of domains.
  std::optional<Found> find_free(const Gang& gang, const Slice& slice, NodeRequirements requirements) {
    Candidates* candidates = candidates_for(slice, std::move(requirements));
    if (candidates == nullptr) {
      wait(gang, WaitingCode::kTooManyRequirements,
           fmt::format("{} other node requirements of namespace {} are compared with the nodes first",
                       max_requirements_, slice.key.namespace_name));
      return std::nullopt;
    }
    Found found{&slice, candidates->requirements().topology_key, take_kept(slice, *candidates), {}, candidates};
    if (found.domain.empty()) found.domain = candidates->take_free(excluded_, scout_domain(slice));
    if (found.domain.empty()) found.domain = reservations_.take_backfill(gang, *candidates, excluded_);
    if (found.domain.empty()) return found;
    found.nodes = inventory_.nodes_by_host(candidates->requirements(), found.domain);
    inventory_.occupy(found.topology_key, found.domain, display_name(slice));
    return found;
  }

  /// The domain that is kept for the slice, if it is free and still fits; else empty.
  std::string take_kept(const Slice& slice, Candidates& candidates) {
    const KeptDomain* const kept = kept_domain(slice);
    if (kept == nullptr || kept->domain.first != candidates.requirements().topology_key) return {};
    const std::string& domain = kept->domain.second;
    if (excluded_.contains(domain) || inventory_.check(candidates.requirements(), domain).obstacle != Obstacle::kNone)
      return {};
    candidates.remove(domain);
    return domain;
  }

  std::optional<Found> find_chosen(const Gang& gang, const Slice& slice, const NodeRequirements& requirements) {
    Result<ChosenNodes> chosen = chosen_nodes(requirements, inventory_, viewer_of(gang));
    if (!chosen) {
      wait(gang, WaitingCode::kChosenNodesInUse, chosen.error().message());
      return std::nullopt;
    }
    inventory_.occupy(requirements.topology_key, chosen->domain, display_name(slice));
    return Found{&slice, requirements.topology_key, std::move(chosen->domain), std::move(chosen->nodes)};
  }

  /// Empty: may see all.
  [[nodiscard]] std::string_view viewer_of(const Gang& gang) const {
    return request_.show_other_namespaces ? std::string_view() : gang.namespace_name();
  }

  /// The domain in which the slice's scout pod runs; empty if there is none.
  std::string scout_domain(const Slice& slice) {
    const auto scout = request_.scouts.find(slice.key);
    if (scout == request_.scouts.end() || scout->second.empty()) return {};
    const NodeUse* use = inventory_.use_of(scout->second);
    return use == nullptr ? std::string() : domain_of_node(*use->node, slice.topology_key);
  }

  void put_back(const std::vector<Found>& found) {
    if (found.empty()) return;
    for (const Found& each : std::views::reverse(found)) {
      inventory_.release(each.topology_key, each.domain, display_name(*each.slice));
      if (each.candidates != nullptr) {
        each.candidates->put_back(each.domain);
      }
    }
    for (Candidates& each : candidates_) each.restore_skipped();
  }

  void wait_for_domains(const Gang& gang) {
    const bool detailed = detailed_gangs_ < kMaxDetailedGangs;
    if (detailed) ++detailed_gangs_;
    std::vector<slice::WaitingReason> reasons;
    reasons.reserve(gang.slices.size());
    for (const Slice* slice : gang.slices) reasons.push_back(explain(gang, *slice, detailed));
    for (const Slice* slice : gang.slices) queue_.add(*by_slice_.at(slice), display_name(*slice));
    std::map<Candidates*, std::size_t> free;
    for (const Slice* slice : gang.slices) free.try_emplace(by_slice_.at(slice), 0);
    for (auto& [candidates, count] : free) count = candidates->count_free(excluded_);
    const Claim claim = claims_.claim_for(gang, free, detailed);
    std::string text = claim.text;
    if (claim.domains.empty()) {
      text += reservations_.reserve_for(gang, excluded_);
    } else {
      claims_.reserve(gang, claim, excluded_);
    }
    // Free domains go first to slices without a pending scale-up.
    std::vector<const Slice*> in_need = gang.slices;
    std::ranges::stable_partition(in_need, [&](const Slice* each) { return !request_.asks_for_nodes(each->key); });
    std::set<const Slice*> served;
    for (const Slice* slice : in_need) {
      std::size_t& left = free[by_slice_.at(slice)];
      if (left > 0 && served.insert(slice).second) --left;
    }
    StalledGang stalled{&gang, {}, excluded_};
    for (std::size_t i = 0; i < gang.slices.size(); ++i) {
      const Slice* const slice = gang.slices[i];
      const bool lacks = claim.domains.empty() && !served.contains(slice);
      if (lacks) stalled.lacking.push_back(slice);
      if (detailed) reasons[i].text += text;
      out_.waiting.push_back({slice, std::move(reasons[i]), lacks ? by_slice_.at(slice)->lacked() : nullptr});
    }
    add_stalled(std::move(stalled));
  }

  void add_stalled(StalledGang stalled) {
    const std::optional<Timestamp> from = stalled_at(*stalled.gang, request_.hold_timeout);
    if (!from || stalled.lacking.empty()) return;
    if (request_.now >= *from) {
      stalled_.push_back(std::move(stalled));
    } else {
      set_earlier(out_.changes_at, *from);
    }
  }

  slice::WaitingReason explain(const Gang& gang, const Slice& slice, bool detailed) {
    if (!detailed) {
      return {WaitingCode::kQueuedBehind,
              fmt::format("at least {} slices are ahead of it in the queue", kMaxDetailedGangs)};
    }
    Candidates& candidates = *by_slice_.at(&slice);
    const std::string ahead = queue_.ahead_of(candidates, viewer_of(gang));
    const WaitingCode code = candidates.code();
    return {code == WaitingCode::kNodesInUse && !ahead.empty() ? WaitingCode::kQueuedBehind : code,
            candidates.explain(gang.slices.size(), viewer_of(gang), excluded_) + ahead};
  }

  /// Null if the namespace has too many different requirements.
  Candidates* candidates_for(const Slice& slice, NodeRequirements requirements) {
    const auto [entry, is_new] = by_slice_.try_emplace(&slice, nullptr);
    if (is_new) entry->second = find_candidates(std::move(requirements), slice.key.namespace_name);
    return entry->second;
  }

  Candidates* find_candidates(NodeRequirements requirements, const std::string& namespace_name) {
    for (Candidates& known : candidates_) {
      if (are_equivalent(known.requirements(), requirements)) return &known;
    }
    std::size_t& count = by_namespace_[namespace_name];
    if (count == max_requirements_) return nullptr;
    ++count;
    return &candidates_.emplace_back(
        inventory_, std::move(requirements),
        Candidates::Preferences{request_.domain_failures, scout_nodes_, request_.capacity_order});
  }

  void wait(const Gang& gang, WaitingCode code, const std::string& text) {
    for (const Slice* slice : gang.slices) out_.waiting.push_back({slice, {code, text}});
  }

  const PlacementRequest& request_;
  const PlacedSlices& placed_;
  Inventory& inventory_;
  std::set<std::string> scout_nodes_;
  std::list<Candidates> candidates_;
  CandidatesBySlice by_slice_;
  const std::size_t max_requirements_;               ///< Maximum of one namespace.
  std::map<std::string, std::size_t> by_namespace_;  ///< Number of `candidates_` made for the namespace.
  ExcludedDomains excluded_;                         ///< For any slice of the gang that is being placed.
  std::size_t detailed_gangs_ = 0;
  std::size_t reserved_kept_ = 0;  ///< How many of request_.kept are reserved.
  std::map<ObjectKey, const KeptDomain*> kept_by_slice_;
  Queue queue_;
  Reservations reservations_;
  Claims claims_;
  std::vector<StalledGang> stalled_;  ///< In order.
  Assignment out_;
};

}  // namespace

Assignment assign(const PlacementRequest& request, Inventory& inventory) {
  const std::vector<Gang> gangs = gangs_in_order(request.ready, request.placed->by_key);
  Assigner assigner(request, inventory);
  for (const Gang& gang : gangs) assigner.assign(gang);
  return assigner.take();
}

}  // namespace tpuslice::placement
