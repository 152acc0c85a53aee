#include "tests/bench/fleet/bound.h"

#include <algorithm>
#include <vector>

#include "tests/bench/fleet/draws.h"

namespace tpuslice::fleet_bench {
namespace {

/// Work that arrives at a rate, waits, and is done as fast as the capacity allows.
struct FluidQueue {
  double arriving = 0;  ///< Hosts.
  double capacity = 0;  ///< Hosts.
  double waiting = 0;   ///< Host-hours.
  double done = 0;      ///< Host-hours.

  void advance(double hours) {
    const double drain = capacity - arriving;
    if (waiting > 0 && drain > 0) {
      const bool empties = waiting <= drain * hours;
      const double time = empties ? waiting / drain : hours;
      done += capacity * time;
      waiting = empties ? 0 : waiting - drain * time;
      hours = empties ? std::max(0.0, hours - time) : 0;
    }
    const double rate = waiting > 0 ? capacity : std::min(arriving, capacity);
    done += rate * hours;
    waiting += (arriving - rate) * hours;
  }
};

/// A change of the work that arrives for a shape, or of the faults of nodes.
struct WorkChange {
  Timestamp at;
  ShapeId shape = -1;
  int hosts = 0;
  NodeId first_node = 0;
  int nodes = 0;
  int faults = 0;
};

std::vector<WorkChange> changes_of(const Fleet& fleet, const Trace& trace) {
  std::vector<WorkChange> out;
  for (const Job& job : trace.jobs) {
    const int hosts = hosts_of(fleet, job);
    out.push_back({.at = job.arrives + kStartUp, .shape = job.shape, .hosts = hosts});
    out.push_back({.at = job.arrives + kStartUp + job.length, .shape = job.shape, .hosts = -hosts});
  }
  for (const Fault& fault : trace.faults) {
    if (fault.kind == FaultKind::kProcessFails) continue;
    for (const int faults : {1, -1}) {
      out.push_back({.at = faults > 0 ? fault.at : fault.at + fault.down,
                     .first_node = fault.first_node,
                     .nodes = fault.nodes,
                     .faults = faults});
    }
  }
  std::ranges::stable_sort(out, {}, &WorkChange::at);
  return out;
}

class BoundedFleet {
 public:
  explicit BoundedFleet(const Fleet& fleet)
      : fleet_(fleet),
        faults_(fleet.nodes.size()),
        broken_(fleet.domains.size()),
        shapes_(fleet.shapes.size()),
        groups_(static_cast<std::size_t>(fleet.groups)) {
    for (ShapeId shape = 0; shape < static_cast<ShapeId>(shapes_.size()); ++shape) {
      add_capacity(shape, static_cast<int>(fleet.shapes[shape].domains.size()));
    }
  }

  void advance(double hours) {
    for (auto* const queues : {&shapes_, &groups_}) {
      for (FluidQueue& queue : *queues) queue.advance(hours);
    }
  }

  void apply(const WorkChange& change) {
    if (change.shape >= 0) {
      shapes_[change.shape].arriving += change.hosts;
      groups_[fleet_.shapes[change.shape].group].arriving += change.hosts;
      return;
    }
    for (NodeId node = change.first_node; node < change.first_node + change.nodes; ++node) {
      const bool was_healthy = faults_[node] == 0;
      faults_[node] += change.faults;
      if (was_healthy != (faults_[node] == 0)) set_healthy(node, !was_healthy);
    }
  }

  /// Host-hours of work that can be done by now.
  [[nodiscard]] double done() const {
    std::vector<double> by_group(groups_.size());
    for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
      by_group[fleet_.shapes[shape].group] += shapes_[shape].done;
    }
    double sum = 0;
    for (std::size_t group = 0; group < groups_.size(); ++group) sum += std::min(by_group[group], groups_[group].done);
    return sum;
  }

 private:
  void add_capacity(ShapeId shape, int domains) {
    const Shape& of = fleet_.shapes[shape];
    shapes_[shape].capacity += domains * of.hosts;
    double largest = 0;
    for (std::size_t other = 0; other < shapes_.size(); ++other) {
      if (fleet_.shapes[other].group == of.group) largest = std::max(largest, shapes_[other].capacity);
    }
    groups_[of.group].capacity = largest;
  }

  void set_healthy(NodeId node, bool healthy) {
    for (const DomainId domain : fleet_.nodes[node].domains) {
      const bool was_whole = broken_[domain] == 0;
      broken_[domain] += healthy ? -1 : 1;
      const bool is_whole = broken_[domain] == 0;
      if (was_whole != is_whole) add_capacity(fleet_.domains[domain].shape, is_whole ? 1 : -1);
    }
  }

  const Fleet& fleet_;
  std::vector<int> faults_;  ///< By node.
  std::vector<int> broken_;  ///< By domain, the nodes that have faults.
  std::vector<FluidQueue> shapes_;
  std::vector<FluidQueue> groups_;  ///< Shapes that share nodes, together.
};

}  // namespace

Outcome bound_of(const Fleet& fleet, const Trace& trace) {
  BoundedFleet bounded(fleet);
  const std::vector<WorkChange> changes = changes_of(fleet, trace);
  auto change = changes.begin();
  Timestamp now = trace.start;
  const auto advance_to = [&](Timestamp at) {
    for (; change != changes.end() && change->at <= at; ++change) {
      bounded.advance(hours_of(change->at - now));
      now = change->at;
      bounded.apply(*change);
    }
    bounded.advance(hours_of(at - now));
    now = at;
  };
  Outcome out;
  out.policy = "bound";
  out.capacity = fleet.node_count() * hours_of(trace.end - trace.measured_from);
  advance_to(trace.measured_from);
  const double before = bounded.done();
  double last = before;
  for (Timestamp at = trace.measured_from + std::chrono::hours(1); at <= trace.end; at += std::chrono::hours(1)) {
    advance_to(at);
    out.samples.push_back({hours_of(at - trace.measured_from), bounded.done() - last, 0});
    last = bounded.done();
  }
  out.useful_in_all = bounded.done();
  out.useful = out.useful_in_all - before;
  out.running = out.useful;
  return out;
}

}  // namespace tpuslice::fleet_bench
