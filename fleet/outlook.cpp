#include "fleet/outlook.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <list>
#include <memory>
#include <ranges>
#include <string_view>
#include <utility>

#include "controllers/placement/gang.h"
#include "controllers/placement/scale_up/scouts.h"
#include "tpu/chips.h"

namespace tpuslice::fleet {
namespace {

using placement::AcceleratorCache;
using placement::Assignment;
using placement::Fit;
using placement::Gang;
using placement::Inventory;
using placement::NodeRequirements;
using placement::Obstacle;
using placement::PlacementDecisions;
using placement::PlacementRequest;
using placement::Slice;
using placement::WaitingSlice;
using plan::WaitingCode;

/// The slices with equivalent requirements.
struct Line {
  NodeRequirements requirements;
  std::vector<std::string> matching = {};  ///< Names of the domains whose nodes match, sorted.
  std::size_t usable = 0;                  ///< Verdict::usable
  std::set<const Line*> competitors = {};  ///< Those that match some of these domains, with itself.
};

/// A gang that waits for nodes, and the lines of its slices, with their number.
struct QueuedGang {
  const Gang* gang = nullptr;
  std::map<const Line*, std::size_t> slices;

  /// Number of its slices that compete with those of the line for domains.
  [[nodiscard]] std::size_t competing(const Line& line) const {
    std::size_t count = 0;
    for (const auto& [own, of_line] : slices) count += line.competitors.contains(own) ? of_line : 0;
    return count;
  }
};

/// Whether the slice has its place in a queue for nodes, and is not held back by something else.
bool has_place_in_queue(WaitingCode code) {
  return code == WaitingCode::kNodesInUse || code == WaitingCode::kQueuedBehind ||
         code == WaitingCode::kNodesNotUsable || code == WaitingCode::kNoMatchingNodes ||
         code == WaitingCode::kNodesRequested;
}

/// Looks at the domains of one accelerator after its slices have been assigned.
class Inspector {
 public:
  Inspector(const std::set<ObjectKey>& detailed, Outlook& out) : detailed_(detailed), out_(out) {}

  void inspect(const PlacementRequest& request, const Assignment& assignment, Inventory& inventory) {
    std::set<const Slice*> queued;
    for (const WaitingSlice& each : assignment.waiting) {
      if (has_place_in_queue(each.reason.code)) queued.insert(each.slice);
    }
    const std::vector<Gang> gangs = placement::gangs_in_order(request.ready, request.placed->by_key);
    std::set<std::string> topology_keys;
    std::map<std::string, const Gang*> by_name;
    for (const Gang& gang : gangs) {
      by_name.emplace(placement::display_name(*gang.slices.front()), &gang);
      std::map<Line*, std::vector<const Slice*>> by_line;
      for (const Slice* slice : gang.slices) {
        topology_keys.insert(slice->topology_key);
        by_line[&line_of(*slice, inventory)].push_back(slice);
      }
      QueuedGang waits{&gang, {}};
      for (const auto& [line, slices] : by_line) {
        const bool is_queued = queued.contains(slices.front());
        for (const Slice* slice : slices) add(gang, *slice, {*line, slices.size(), is_queued}, request, inventory);
        if (is_queued) waits.slices.emplace(line, slices.size());
      }
      if (!waits.slices.empty()) queue_.push_back(std::move(waits));
    }
    for (const std::string& key : topology_keys) add_reserved(key, by_name, request, inventory);
  }

  /// After Verdict::asked_for_nodes is set.
  void count_asked() {
    for (const auto& [first, slices] : gangs_) {
      const auto asked = static_cast<std::size_t>(std::ranges::count_if(
          slices, [this](const ObjectKey& slice) { return out_.verdicts[slice].asked_for_nodes; }));
      for (const ObjectKey& slice : slices) out_.verdicts[slice].asked_in_gang = asked;
    }
  }

 private:
  Line& line_of(const Slice& slice, Inventory& inventory) {
    NodeRequirements requirements = placement::node_requirements(slice);
    const auto known = std::ranges::find_if(
        lines_, [&](const Line& line) { return placement::are_equivalent(line.requirements, requirements); });
    if (known != lines_.end()) return *known;
    Line& line = lines_.emplace_back(Line{std::move(requirements)});
    line.competitors.insert(&line);
    const std::shared_ptr<placement::Comparison> comparison = inventory.comparison(line.requirements);
    for (const auto& [name, domain] : inventory.domains(slice.topology_key)) {
      const Obstacle obstacle = comparison->with(name, domain).obstacle;
      if (obstacle != Obstacle::kMismatch) line.matching.push_back(name);
      if (obstacle == Obstacle::kNone) ++line.usable;
    }
    for (Line& other : lines_) {
      const bool same_key = other.requirements.topology_key == line.requirements.topology_key;
      std::vector<std::string> both;
      if (same_key) std::ranges::set_intersection(line.matching, other.matching, std::back_inserter(both));
      if (both.empty()) continue;
      line.competitors.insert(&other);
      other.competitors.insert(&line);
    }
    return line;
  }

  /// The queue that slices of a gang are in.
  struct PlaceInLine {
    const Line& line;
    std::size_t slices = 1;  ///< Those of the gang that want the same nodes.
    bool is_queued = false;
  };

  void add(const Gang& gang, const Slice& slice, const PlaceInLine& place, const PlacementRequest& request,
           Inventory& inventory) {
    const Line& line = place.line;
    Verdict& verdict = out_.verdicts[slice.key];
    verdict.slice = slice.key;
    gangs_[gang.slices.front()->key].push_back(slice.key);
    verdict.slices_together = place.slices;
    verdict.wanted = place.slices + gang.running.size();
    verdict.matching = line.matching.size();
    verdict.usable = line.usable;
    if (place.is_queued) {
      verdict.position = 1;
      for (const QueuedGang& ahead : std::views::reverse(queue_)) {
        const std::size_t slices = ahead.competing(line);
        if (slices == 0) continue;
        ++verdict.position;
        verdict.slices_ahead += slices;
        if (verdict.behind.size() < kMaxAhead) verdict.behind.push_back(ahead.gang->slices.front()->key);
      }
    }
    if (!detailed_.contains(slice.key)) return;
    const std::string viewer = request.show_other_namespaces ? std::string() : slice.key.namespace_name;
    for (const auto& [name, domain] : inventory.domains(slice.topology_key)) {
      const Fit fit = inventory.check(line.requirements, name, viewer);
      verdict.domains.push_back(
          {name, fit.obstacle != Obstacle::kMismatch, fit.obstacle == Obstacle::kNone, fit.obstacle, fit.text});
    }
  }

  void add_reserved(const std::string& key, const std::map<std::string, const Gang*>& by_name,
                    const PlacementRequest& request, Inventory& inventory) {
    for (const auto& [name, domain] : inventory.domains(key)) {
      const auto reserved = std::ranges::find_if(domain.nodes, [](const auto* use) { return use->reserved; });
      if (reserved == domain.nodes.end()) continue;
      ReservedDomain& out = out_.reserved[{key, name}];
      const auto gang = by_name.find((*reserved)->claimant.str());
      if (gang == by_name.end()) continue;
      out.slice = gang->second->slices.front()->key;
      out.until = end_of_window(*gang->second, request);
    }
  }

  /// When the gang yields its reservations to others (ReservationLimits::timeout).
  static std::optional<Timestamp> end_of_window(const Gang& gang, const PlacementRequest& request) {
    const Duration timeout = request.reservation.timeout;
    if (timeout <= Duration::zero()) return std::nullopt;
    const std::int64_t window = std::max<std::int64_t>((request.now - gang.queued_since()) / timeout, 0);
    return gang.queued_since() + (window + 1) * timeout;
  }

  static constexpr std::size_t kMaxAhead = 3;
  const std::set<ObjectKey>& detailed_;
  Outlook& out_;
  std::list<Line> lines_;
  std::vector<QueuedGang> queue_;                      ///< In order.
  std::map<ObjectKey, std::vector<ObjectKey>> gangs_;  ///< The slices of each gang, by the key of its first.
};

void add_decisions(const PlacementDecisions& decisions, Outlook& out) {
  for (const placement::Placement& placed : decisions.placements) {
    Verdict& verdict = out.verdicts[placed.slice->key];
    verdict.slice = placed.slice->key;
    verdict.domain = placed.domain;
  }
  for (const auto* waiting : {&decisions.waiting, &decisions.incomplete, &decisions.refused, &decisions.rejected}) {
    for (const WaitingSlice& each : *waiting) {
      Verdict& verdict = out.verdicts[each.slice->key];
      verdict.slice = each.slice->key;
      verdict.code = each.reason.code;
      verdict.reason = each.reason.text;
      verdict.asked_for_nodes =
          decisions.scouts.asked.contains(each.slice) || decisions.provisioning.asked.contains(each.slice);
    }
  }
  for (const placement::Preemption& each : decisions.preemptions) out.preempted.insert(each.victim->key);
}

/// The pods of the accelerator, as the operator's indexes have them (accelerator_indexes.h).
bool is_of(const PodView& pod, const std::string& accelerator) {
  const std::string& selected = placement::accelerator_of(pod.scheduling->node_selector);
  return selected.empty() || selected == accelerator;
}

}  // namespace

std::set<std::string> accelerators_of(const Snapshot& snapshot) {
  std::set<std::string> out;
  for (const NodePtr& node : snapshot.nodes) out.insert(placement::accelerator_of(node->labels));
  for (const PodPtr& pod : snapshot.pods) {
    if (tpu::chips_of(*pod) > 0) out.insert(placement::accelerator_of(pod->scheduling->node_selector));
  }
  out.erase("");
  return out;
}

placement::PlacementOptions planning_options(const Snapshot& snapshot) {
  placement::PlacementOptions options = snapshot.options;
  options.waiting_reason_delay = Duration::zero();
  return options;
}

void read_cache(const Snapshot& snapshot, AcceleratorCache& cache) {
  placement::ClusterState cluster;
  for (const NodePtr& node : snapshot.nodes) {
    if (placement::accelerator_of(node->labels) == cache.accelerator()) cluster.nodes.push_back(node);
  }
  for (const PodPtr& pod : snapshot.pods) {
    if (!placement::is_considered(*pod)) continue;
    if (tpu::chips_of(*pod) > 0) {
      if (is_of(*pod, cache.accelerator())) cluster.pods.push_back(pod);
    } else if (!pod->node_name.empty()) {
      cluster.pods_without_tpus.push_back(pod);
    }
  }
  cache.read(cluster, snapshot.time);
}

Outlook plan_outlook(const Snapshot& snapshot, AcceleratorCache& cache, const std::set<ObjectKey>& detailed) {
  const placement::PlacementOptions options = planning_options(snapshot);
  placement::PlacementObserved seen;
  seen.now = snapshot.time;
  seen.has_autoscaler = snapshot.has_autoscaler;
  for (const PodPtr& pod : snapshot.pods) {
    if (placement::is_scout(*pod, options.scale_up) && is_of(*pod, cache.accelerator())) seen.scouts.push_back(pod);
  }
  for (const auto& request : snapshot.provisioning_requests) {
    if (placement::accelerator_of_request(request->annotations) == cache.accelerator()) {
      seen.provisioning.requests.push_back(request);
    }
  }
  seen.preemptions = {true, snapshot.preemptions};
  Outlook out;
  Inspector inspector(detailed, out);
  const PlacementDecisions decisions = placement::decide_placement(
      seen, cache, options, [&](const PlacementRequest& request, const Assignment& assignment, Inventory& inventory) {
        inspector.inspect(request, assignment, inventory);
      });
  add_decisions(decisions, out);
  inspector.count_asked();
  return out;
}

}  // namespace tpuslice::fleet
