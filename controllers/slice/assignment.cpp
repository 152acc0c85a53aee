#include "controllers/slice/assignment.h"

#include <algorithm>
#include <list>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace tpuslice::slice {
namespace {

/// For this many gangs at the head of the queue the waiting reason lists domains.
constexpr std::size_t kMaxDetailedGangs = 20;
constexpr std::size_t kMaxDomainsInReason = 6;

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

/// The domains for all slices with equivalent node requirements, checked once.
class Candidates {
 public:
  Candidates(Inventory& inventory, NodeRequirements requirements, const DomainFailures& failures)
      : inventory_(inventory), requirements_(std::move(requirements)) {
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
      const auto found = failures.find({requirements_.topology_key, domain});
      return found == failures.end() ? 0 : found->second;
    });
    std::ranges::reverse(free_);
    // The domain with the fewest nodes in use is likely to become free first.
    std::ranges::stable_sort(occupied_, {}, [&](const std::string& domain) {
      return inventory_.free_nodes(requirements_.topology_key, domain);
    });
  }

  [[nodiscard]] const NodeRequirements& requirements() const { return requirements_; }

  /// Removes and returns the best free domain; empty if there is none.
  std::string take_free() {
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
    if (occupied_.empty()) return {};
    std::string domain = std::move(occupied_.back());
    occupied_.pop_back();
    return domain;
  }
  /// Number of domains that would be free in an empty cluster.
  [[nodiscard]] std::size_t usable() const { return usable_; }

  /// The waiting reason if fewer than `needed` domains are free.
  [[nodiscard]] std::string explain(std::size_t needed) {
    std::vector<std::string> texts;
    std::size_t count = 0;
    std::size_t free = 0;
    for (const std::string& domain : inventory_.domains(requirements_.topology_key)) {
      const Fit fit = inventory_.check(requirements_, domain);
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
  Inventory& inventory_;
  const NodeRequirements requirements_;
  std::vector<std::string> free_;      ///< The best is last.
  std::vector<std::string> occupied_;  ///< The best is last.
  std::size_t usable_ = 0;
};

class Assigner {
 public:
  Assigner(const PlacementRequest& request, Inventory& inventory) : request_(request), inventory_(inventory) {
    for (const Slice& slice : request.released) released_.emplace_back(node_requirements(slice), display_name(slice));
  }

  void assign(const Gang& gang) {
    const auto wanted = static_cast<std::size_t>(gang.slices.front()->gang_slices);
    if (const std::size_t size = gang.size(request_.placed_gangs); size < wanted) {
      return wait(gang, fmt::format("{} of the {} slices that start together have all their pods", size, wanted));
    }
    if (const std::string other = released_equivalent(gang); !other.empty()) {
      return wait(gang, fmt::format("{} was released before it and is not scheduled yet", other));
    }
    std::vector<Found> found;
    for (const Slice* slice : gang.slices) {
      Candidates& candidates = candidates_for(*slice);
      std::string domain = candidates.take_free();
      if (domain.empty()) continue;
      inventory_.occupy(candidates.requirements().topology_key, domain, display_name(*slice));
      found.push_back({slice, &candidates, std::move(domain)});
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
      released_.emplace_back(node_requirements(*slice), display_name(*slice));
    }
  }

  void wait_for_domains(const Gang& gang) {
    if (detailed_gangs_ < kMaxDetailedGangs) {
      for (const Slice* slice : gang.slices) {
        out_.waiting.push_back({slice, candidates_for(*slice).explain(gang.slices.size())});
      }
      ++detailed_gangs_;
    } else {
      wait(gang, fmt::format("at least {} slices are older or have higher priority", kMaxDetailedGangs));
    }
    if (fits_empty_cluster(gang)) reserve_domains(gang);
  }

  bool fits_empty_cluster(const Gang& gang) {
    std::map<Candidates*, std::size_t> needed;
    for (const Slice* slice : gang.slices) ++needed[&candidates_for(*slice)];
    return std::ranges::all_of(needed, [](const auto& entry) { return entry.second <= entry.first->usable(); });
  }

  void reserve_domains(const Gang& gang) {
    for (const Slice* slice : gang.slices) {
      Candidates& candidates = candidates_for(*slice);
      std::string domain = candidates.take_free();
      if (domain.empty()) domain = candidates.take_occupied();
      if (domain.empty()) continue;
      inventory_.reserve(candidates.requirements().topology_key, domain, display_name(*slice));
    }
  }

  Candidates& candidates_for(const Slice& slice) {
    NodeRequirements requirements = node_requirements(slice);
    for (Candidates& known : candidates_) {
      if (are_equivalent(known.requirements(), requirements)) return known;
    }
    return candidates_.emplace_back(inventory_, std::move(requirements), request_.domain_failures);
  }

  /// A released slice with node requirements of a slice of the gang; empty if there is none.
  [[nodiscard]] std::string released_equivalent(const Gang& gang) const {
    for (const Slice* slice : gang.slices) {
      const NodeRequirements requirements = node_requirements(*slice);
      for (const auto& [other, name] : released_) {
        if (are_equivalent(other, requirements)) return name;
      }
    }
    return {};
  }

  void wait(const Gang& gang, const std::string& reason) {
    for (const Slice* slice : gang.slices) out_.waiting.push_back({slice, reason});
  }

  const PlacementRequest& request_;
  Inventory& inventory_;
  std::vector<std::pair<NodeRequirements, std::string>> released_;
  std::list<Candidates> candidates_;
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
