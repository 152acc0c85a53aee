#include "controllers/slice/assignment.h"

#include <algorithm>
#include <list>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::slice {
namespace {

/// For this many gangs at the head of the queue the waiting reason lists domains.
constexpr std::size_t kMaxDetailedGangs = 20;
constexpr std::size_t kMaxDomainsInReason = 6;
/// Different node requirements of one namespace that are compared with all domains in one plan. Slices with further
/// ones wait, so that one namespace does not hold up the others.
constexpr std::size_t kMaxRequirementsOfNamespace = 32;

/// Slices that start together; most gangs are one slice.
struct Gang {
  std::vector<const Slice*> slices;

  [[nodiscard]] auto rank() const {
    const auto priority =
        std::ranges::max(slices, {}, [](const Slice* slice) { return slice->priority(); })->priority();
    const auto created =
        std::ranges::min(slices, {}, [](const Slice* slice) { return slice->first_created(); })->first_created();
    return std::tuple(-std::int64_t{priority}, created, slices.front()->key);
  }
  /// Number of its slices that are ready or placed.
  [[nodiscard]] std::size_t size(const GangCounts& placed_gangs) const {
    const auto placed = placed_gangs.find({slices.front()->key.namespace_name, slices.front()->gang});
    return slices.size() + (placed == placed_gangs.end() ? 0 : placed->second);
  }
};

std::vector<Gang> gangs_in_order(const std::vector<Slice>& ready) {
  std::map<std::tuple<std::string, std::string, std::string>, Gang> by_name;
  for (const Slice& slice : ready) {
    const std::string own_name = slice.gang.empty() ? slice.key.name : std::string();
    by_name[{slice.key.namespace_name, slice.gang, own_name}].slices.push_back(&slice);
  }
  std::vector<std::pair<decltype(std::declval<Gang>().rank()), Gang>> ranked;
  for (auto& [name, gang] : by_name) {
    auto rank = gang.rank();
    ranked.emplace_back(std::move(rank), std::move(gang));
  }
  std::ranges::sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<Gang> gangs;
  for (auto& [rank, gang] : ranked) gangs.push_back(std::move(gang));
  return gangs;
}

/// The domains for all slices with equivalent node requirements, checked once, when they are first needed.
class Candidates {
 public:
  Candidates(Inventory& inventory, NodeRequirements requirements, const DomainFailures& failures)
      : inventory_(inventory), requirements_(std::move(requirements)), failures_(failures) {}

  [[nodiscard]] const NodeRequirements& requirements() const { return requirements_; }
  /// A slice with these requirements that was released and is not scheduled yet; empty if there is none.
  [[nodiscard]] const std::string& released() const { return released_; }
  void set_released(std::string name) { released_ = std::move(name); }

  /// Removes and returns the best free domain; empty if there is none.
  std::string take_free() {
    check_domains();
    while (!free_.empty()) {
      const std::string domain = std::move(free_.back());
      free_.pop_back();
      if (inventory_.check(requirements_, domain).obstacle == Obstacle::kNone) return domain;
    }
    return {};
  }
  void put_back(std::string domain) { free_.push_back(std::move(domain)); }
  /// Removes and returns the occupied domain that is likely to become free first; empty if there is none.
  std::string take_occupied() {
    check_domains();
    if (occupied_.empty()) return {};
    std::string domain = std::move(occupied_.back());
    occupied_.pop_back();
    return domain;
  }
  /// Number of domains that would be free in an empty cluster.
  [[nodiscard]] std::size_t usable() {
    check_domains();
    return usable_;
  }

  /// The waiting reason if fewer than `needed` domains are free, for `viewer`, a namespace.
  [[nodiscard]] std::string explain(std::size_t needed, std::string_view viewer) {
    if (requirements_.too_many) {
      return fmt::format(
          "its pods have more than {} different node selectors, affinities, tolerations or numbers of "
          "chips",
          kMaxRequirementsOfSlice);
    }
    std::vector<std::string> texts;
    std::size_t count = 0;
    std::size_t free = 0;
    for (const std::string& domain : inventory_.domains(requirements_.topology_key)) {
      const Fit fit = inventory_.check(requirements_, domain, viewer);
      if (fit.obstacle == Obstacle::kMismatch) continue;
      ++count;
      if (fit.obstacle == Obstacle::kNone) ++free;
      if (texts.size() < kMaxDomainsInReason) texts.push_back(fit.text.empty() ? domain + " is free" : fit.text);
    }
    if (count == 0) {
      return fmt::format("no {} matches the pods' node selector and affinity", domain_noun(requirements_.topology_key));
    }
    const std::string more = count > texts.size() ? fmt::format("; and {} more", count - texts.size()) : "";
    const std::string enough = needed == 1 ? "none is free" : fmt::format("{} free at once, {} needed", free, needed);
    return fmt::format("{} {} would match, {}: {}{}", count, domain_noun(requirements_.topology_key, count), enough,
                       fmt::join(texts, "; "), more);
  }

 private:
  void check_domains() {
    if (std::exchange(checked_, true)) return;
    for (std::string& domain : inventory_.domains(requirements_.topology_key)) {
      const Obstacle obstacle = inventory_.check(requirements_, domain).obstacle;
      if (obstacle == Obstacle::kNone) {
        free_.push_back(std::move(domain));
      } else if (obstacle == Obstacle::kOccupied) {
        occupied_.push_back(std::move(domain));
      }
    }
    usable_ = free_.size() + occupied_.size();
    std::ranges::stable_sort(free_, {}, [&](const std::string& domain) {
      const auto found = failures_.find({requirements_.topology_key, domain});
      return found == failures_.end() ? 0 : found->second;
    });
    std::ranges::reverse(free_);
    // The domain with the fewest nodes in use is likely to become free first.
    std::ranges::stable_sort(occupied_, {}, [&](const std::string& domain) {
      return inventory_.free_nodes(requirements_.topology_key, domain);
    });
  }

  Inventory& inventory_;
  const NodeRequirements requirements_;
  const DomainFailures& failures_;
  std::string released_;
  bool checked_ = false;
  std::vector<std::string> free_;      ///< The best is last.
  std::vector<std::string> occupied_;  ///< The best is last.
  std::size_t usable_ = 0;
};

class Assigner {
 public:
  Assigner(const PlacementRequest& request, Inventory& inventory) : request_(request), inventory_(inventory) {
    for (const Slice& slice : request.released) set_released(slice);
  }

  void assign(const Gang& gang) {
    const auto wanted = static_cast<std::size_t>(gang.slices.front()->gang_slices);
    if (const std::size_t size = gang.size(request_.placed_gangs); size < wanted) {
      return wait(gang, fmt::format("{} of the {} slices that start together have all their pods", size, wanted));
    }
    std::vector<Candidates*> candidates;
    for (const Slice* slice : gang.slices) {
      candidates.push_back(candidates_for(*slice));
      if (candidates.back() == nullptr) {
        return wait(gang, fmt::format("{} other node requirements of namespace {} are compared with the nodes first",
                                      kMaxRequirementsOfNamespace, slice->key.namespace_name));
      }
      if (const std::string& other = candidates.back()->released(); !other.empty()) {
        return wait(gang, fmt::format("{} was released before it and is not scheduled yet",
                                      visible_name(other, viewer_of(gang))));
      }
    }
    std::vector<Found> found;
    for (std::size_t i = 0; i < gang.slices.size(); ++i) {
      std::string domain = candidates[i]->take_free();
      if (domain.empty()) continue;
      inventory_.occupy(candidates[i]->requirements().topology_key, domain, display_name(*gang.slices[i]));
      found.push_back({gang.slices[i], candidates[i], std::move(domain)});
    }
    if (found.size() == gang.slices.size()) {
      for (Found& each : found) {
        std::vector<std::string> nodes = inventory_.nodes_by_host(each.candidates->requirements(), each.domain);
        out_.placements.push_back({each.slice, std::move(each.domain), std::move(nodes)});
      }
      return;
    }
    put_back(found);
    if (request_.no_capacity == NoCapacity::kRelease) {
      release_without_domain(gang);
    } else {
      wait_for_domains(gang);
    }
  }

  Assignment take() { return std::move(out_); }

 private:
  /// Empty: may see all.
  [[nodiscard]] std::string_view viewer_of(const Gang& gang) const {
    return request_.show_other_namespaces ? std::string_view() : gang.slices.front()->key.namespace_name;
  }

  struct Found {
    const Slice* slice;
    Candidates* candidates;
    std::string domain;
  };

  void put_back(const std::vector<Found>& found) {
    for (const Found& each : found) {
      inventory_.release(each.candidates->requirements().topology_key, each.domain, display_name(*each.slice));
      each.candidates->put_back(each.domain);
    }
  }

  void release_without_domain(const Gang& gang) {
    for (const Slice* slice : gang.slices) {
      out_.placements.push_back({slice, {}, {}});
      set_released(*slice);
    }
  }

  void wait_for_domains(const Gang& gang) {
    if (detailed_gangs_ < kMaxDetailedGangs) {
      for (const Slice* slice : gang.slices) {
        out_.waiting.push_back({slice, candidates_for(*slice)->explain(gang.slices.size(), viewer_of(gang))});
      }
      ++detailed_gangs_;
    } else {
      wait(gang, fmt::format("at least {} slices are older or have higher priority", kMaxDetailedGangs));
    }
    if (fits_empty_cluster(gang)) reserve_domains(gang);
  }

  bool fits_empty_cluster(const Gang& gang) {
    std::map<Candidates*, std::size_t> needed;
    for (const Slice* slice : gang.slices) ++needed[candidates_for(*slice)];
    return std::ranges::all_of(needed, [](const auto& entry) { return entry.second <= entry.first->usable(); });
  }

  void reserve_domains(const Gang& gang) {
    for (const Slice* slice : gang.slices) {
      Candidates& candidates = *candidates_for(*slice);
      std::string domain = candidates.take_free();
      if (domain.empty()) domain = candidates.take_occupied();
      if (domain.empty()) continue;
      inventory_.reserve(candidates.requirements().topology_key, domain, display_name(*slice));
    }
  }

  /// Null if the namespace has too many different requirements.
  Candidates* candidates_for(const Slice& slice) {
    const auto [entry, is_new] = by_slice_.try_emplace(&slice, nullptr);
    if (is_new) entry->second = find_candidates(node_requirements(slice), slice.key.namespace_name);
    return entry->second;
  }

  Candidates* find_candidates(NodeRequirements requirements, const std::string& namespace_name) {
    for (Candidates& known : candidates_) {
      if (are_equivalent(known.requirements(), requirements)) return &known;
    }
    std::size_t& count = by_namespace_[namespace_name];
    if (count == kMaxRequirementsOfNamespace) return nullptr;
    ++count;
    return &candidates_.emplace_back(inventory_, std::move(requirements), request_.domain_failures);
  }

  void set_released(const Slice& slice) {
    Candidates* candidates = candidates_for(slice);
    if (candidates != nullptr && candidates->released().empty()) candidates->set_released(display_name(slice));
  }

  void wait(const Gang& gang, const std::string& reason) {
    for (const Slice* slice : gang.slices) out_.waiting.push_back({slice, reason});
  }

  const PlacementRequest& request_;
  Inventory& inventory_;
  std::list<Candidates> candidates_;
  std::map<const Slice*, Candidates*> by_slice_;
  std::map<std::string, std::size_t> by_namespace_;  ///< Number of `candidates_` that it was the first to need.
  std::size_t detailed_gangs_ = 0;
  Assignment out_;
};

}  // namespace

Assignment assign(const PlacementRequest& request, Inventory& inventory) {
  Assigner assigner(request, inventory);
  for (const Gang& gang : gangs_in_order(request.ready)) assigner.assign(gang);
  return assigner.take();
}

}  // namespace tpuslice::slice
