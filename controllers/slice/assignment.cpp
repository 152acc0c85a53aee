#include "controllers/slice/assignment.h"

#include <algorithm>
#include <list>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace tpuslice::slice {
namespace {

/// So many of those first in line are told about each domain; the others, how many are before them.
constexpr std::size_t kTold = 20;
constexpr std::size_t kDomainsTold = 6;

/// Slices that start together; mostly one.
struct Unit {
  std::vector<const Slice*> slices;

  [[nodiscard]] auto rank() const {
    const auto priority =
        std::ranges::max(slices, {}, [](const Slice* slice) { return slice->priority(); })->priority();
    const auto since =
        std::ranges::min(slices, {}, [](const Slice* slice) { return slice->waiting_since(); })->waiting_since();
    return std::tuple(-std::int64_t{priority}, since, slices.front()->key);
  }
  /// How many of those that start together are here or have been placed.
  [[nodiscard]] std::size_t members(const GangCounts& placed_gangs) const {
    const auto placed = placed_gangs.find({slices.front()->key.namespace_name, slices.front()->gang});
    return slices.size() + (placed == placed_gangs.end() ? 0 : placed->second);
  }
};

std::vector<Unit> units_of(const std::vector<Slice>& ready) {
  std::map<std::tuple<std::string, std::string, std::string>, Unit> by_gang;
  for (const Slice& slice : ready) {
    const bool alone = slice.gang.empty();
    by_gang[{slice.key.namespace_name, slice.gang, alone ? slice.key.name : std::string()}].slices.push_back(&slice);
  }
  std::vector<std::pair<decltype(std::declval<Unit>().rank()), Unit>> ranked;
  for (auto& [key, unit] : by_gang) {
    auto rank = unit.rank();
    ranked.emplace_back(std::move(rank), std::move(unit));
  }
  std::ranges::sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<Unit> units;
  for (auto& [rank, unit] : ranked) units.push_back(std::move(unit));
  return units;
}

/// Slices with the same wish look through the domains once.
class Candidates {
 public:
  Candidates(Inventory& inventory, Wish wish, const TroubleCounts& troubles)
      : inventory_(inventory), wish_(std::move(wish)) {
    for (std::string& domain : inventory_.domains(wish_.topology_key)) {
      const Obstacle obstacle = inventory_.judge(wish_, domain).obstacle;
      if (obstacle == Obstacle::kNone) {
        free_.push_back(std::move(domain));
      } else if (obstacle == Obstacle::kBusy) {
        busy_.push_back(std::move(domain));
      }
    }
    sound_ = free_.size() + busy_.size();
    std::ranges::stable_sort(free_, {}, [&](const std::string& domain) {
      const auto trouble = troubles.find({wish_.topology_key, domain});
      return trouble == troubles.end() ? 0 : trouble->second;
    });
    std::ranges::reverse(free_);
    // What frees up first is what has the fewest nodes in use.
    std::ranges::stable_sort(
        busy_, {}, [&](const std::string& domain) { return inventory_.free_nodes(wish_.topology_key, domain); });
  }

  [[nodiscard]] const Wish& wish() const { return wish_; }

  /// The next free domain, which is the caller's to take; empty if there is none.
  std::string next_free() {
    while (!free_.empty()) {
      const std::string domain = std::move(free_.back());
      free_.pop_back();
      if (inventory_.judge(wish_, domain).obstacle == Obstacle::kNone) return domain;
    }
    return {};
  }
  void give_back(std::string domain) { free_.push_back(std::move(domain)); }
  /// How many domains would be free if nobody used any.
  [[nodiscard]] std::size_t sound() const { return sound_; }
  /// The next domain that would be free if others had ended, each once; empty if there is none.
  std::string next_busy() {
    if (busy_.empty()) return {};
    std::string domain = std::move(busy_.back());
    busy_.pop_back();
    return domain;
  }

  /// Why fewer than `needed` are free.
  [[nodiscard]] std::string explain(std::size_t needed) {
    std::vector<std::string> texts;
    std::size_t count = 0;
    std::size_t free = 0;
    for (const std::string& domain : inventory_.domains(wish_.topology_key)) {
      const Verdict verdict = inventory_.judge(wish_, domain);
      if (verdict.obstacle == Obstacle::kForeign) continue;
      ++count;
      if (verdict.obstacle == Obstacle::kNone) ++free;
      if (texts.size() < kDomainsTold) texts.push_back(verdict.text.empty() ? domain + " is free" : verdict.text);
    }
    if (count == 0) {
      return fmt::format("no {} matches the pods' node selector and affinity", domain_noun(wish_.topology_key));
    }
    const std::string more = count > texts.size() ? fmt::format("; and {} more", count - texts.size()) : "";
    const std::string enough = needed == 1 ? "none is free" : fmt::format("{} free at once, {} needed", free, needed);
    return fmt::format("{} {} would match, {}: {}{}", count, domain_noun(wish_.topology_key, count), enough,
                       fmt::join(texts, "; "), more);
  }

 private:
  Inventory& inventory_;
  const Wish wish_;
  std::vector<std::string> free_;  ///< The last is next.
  std::vector<std::string> busy_;  ///< Likewise.
  std::size_t sound_ = 0;
};

class Assigner {
 public:
  Assigner(const Contest& contest, Inventory& inventory) : contest_(contest), inventory_(inventory) {
    for (const Slice& slice : contest.released) released_.emplace_back(wish_of(slice), name_of(slice));
  }

  void place(const Unit& unit) {
    const auto gang_slices = static_cast<std::size_t>(unit.slices.front()->gang_slices);
    if (const std::size_t members = unit.members(contest_.placed_gangs); members < gang_slices) {
      return wait(unit,
                  fmt::format("{} of the {} slices that start together have all their pods", members, gang_slices));
    }
    if (const std::string before = released_before(unit); !before.empty()) {
      return wait(unit, fmt::format("{} was released before it and has not got its nodes yet", before));
    }
    std::vector<Found> found;
    for (const Slice* slice : unit.slices) {
      Candidates& candidates = candidates_of(*slice);
      std::string domain = candidates.next_free();
      if (domain.empty()) continue;
      inventory_.take(candidates.wish().topology_key, domain, name_of(*slice));
      found.push_back({slice, &candidates, std::move(domain)});
    }
    if (found.size() == unit.slices.size()) {
      for (Found& each : found) {
        std::vector<std::string> nodes = inventory_.nodes_by_host(each.candidates->wish(), each.domain);
        out_.placements.push_back({each.slice, std::move(each.domain), std::move(nodes)});
      }
    } else if (contest_.no_capacity == NoCapacity::kRelease) {
      give_back(found);
      release(unit);
    } else {
      refuse(unit, found);
    }
  }

  Assignment take() { return std::move(out_); }

 private:
  struct Found {
    const Slice* slice;
    Candidates* candidates;
    std::string domain;
  };

  void give_back(const std::vector<Found>& found) {
    for (const Found& each : found) {
      inventory_.give_back(each.candidates->wish().topology_key, each.domain, name_of(*each.slice));
      each.candidates->give_back(each.domain);
    }
  }

  void release(const Unit& unit) {
    for (const Slice* slice : unit.slices) {
      out_.placements.push_back({slice, {}, {}});
      released_.emplace_back(wish_of(*slice), name_of(*slice));
    }
  }

  /// Too few domains are free. What is told is what was seen before anything is kept for the unit itself.
  void refuse(const Unit& unit, const std::vector<Found>& found) {
    give_back(found);
    if (waiting_ < kTold) {
      for (const Slice* slice : unit.slices) {
        out_.waits.push_back({slice, candidates_of(*slice).explain(unit.slices.size())});
      }
      ++waiting_;
    } else {
      wait(unit, fmt::format("at least {} older slices, or slices of higher priority, wait before it", kTold));
    }
    if (could_ever_start(unit)) keep(unit);
  }

  bool could_ever_start(const Unit& unit) {
    std::map<Candidates*, std::size_t> wanted;
    for (const Slice* slice : unit.slices) ++wanted[&candidates_of(*slice)];
    return std::ranges::all_of(wanted, [](const auto& entry) { return entry.second <= entry.first->sound(); });
  }

  void keep(const Unit& unit) {
    for (const Slice* slice : unit.slices) {
      Candidates& candidates = candidates_of(*slice);
      std::string domain = candidates.next_free();
      if (domain.empty()) domain = candidates.next_busy();
      if (!domain.empty()) inventory_.keep(candidates.wish().topology_key, domain, name_of(*slice));
    }
  }

  Candidates& candidates_of(const Slice& slice) {
    Wish wish = wish_of(slice);
    for (Candidates& known : candidates_) {
      if (same_wish(known.wish(), wish)) return known;
    }
    return candidates_.emplace_back(inventory_, std::move(wish), contest_.troubles);
  }

  [[nodiscard]] std::string released_before(const Unit& unit) const {
    for (const Slice* slice : unit.slices) {
      const Wish wish = wish_of(*slice);
      for (const auto& [other, name] : released_) {
        if (same_wish(other, wish)) return name;
      }
    }
    return {};
  }

  void wait(const Unit& unit, const std::string& why) {
    for (const Slice* slice : unit.slices) out_.waits.push_back({slice, why});
  }

  const Contest& contest_;
  Inventory& inventory_;
  std::vector<std::pair<Wish, std::string>> released_;
  std::list<Candidates> candidates_;
  std::size_t waiting_ = 0;  ///< Units told of each domain.
  Assignment out_;
};

}  // namespace

Assignment assign(const Contest& contest, Inventory& inventory) {
  Assigner assigner(contest, inventory);
  for (const Unit& unit : units_of(contest.ready)) assigner.place(unit);
  return assigner.take();
}

}  // namespace tpuslice::slice
