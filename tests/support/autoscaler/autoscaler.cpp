#include "tests/support/autoscaler/autoscaler.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

constexpr const char* kChips = "google.com/tpu";
constexpr Duration kStatusInterval = std::chrono::seconds(1);
constexpr Duration kRetry = std::chrono::milliseconds(250);

std::vector<GroupNode> nodes_of(const NodeGroup& group) {
  std::vector<GroupNode> nodes;
  for (int host = 0; host < group.pool.hosts; ++host) nodes.push_back({&group, host});
  return nodes;
}

bool accepts_pods(const sim::NodeInfo& node, const NodeGroup& group) {
  if (!node.ready) return false;
  for (const sim::Taint& taint : node.taints) {
    if (taint.key == "node.kubernetes.io/not-ready" || taint.key == "node.kubernetes.io/unreachable") return false;
  }
  const auto chips = node.allocatable.find(kChips);
  return group.pool.chips_per_host == 0 || (chips != node.allocatable.end() && chips->second > 0);
}

}  // namespace

Autoscaler::Autoscaler(client::Reader& reader, client::Writer& writer, const Clock& clock, AutoscalerOptions options)
    : options_(std::move(options)),
      reader_(reader),
      nodes_(reader, writer, clock, options_.writers),
      report_(writer, clock),
      requests_(
          reader, writer, clock,
          {.retry = options_.request_retry, .booking = options_.request_booking, .give_up = options_.request_give_up}) {
  for (const NodeGroup& group : options_.groups) groups_.push_back({.group = group});
}

Instant Autoscaler::step(Instant now) {
  last_error_ = advance(now);
  if (last_error_ && now >= next_scan_) {
    last_error_ = scan(now);
    next_scan_ = now + options_.scan_interval;
  }
  if (!last_error_) return now + kRetry;
  return std::min(next_scan_, next_due().value_or(next_scan_));
}

std::optional<Instant> Autoscaler::next_due() const {
  std::optional<Instant> first;
  for (const GroupState& state : groups_) {
    if (state.phase < Phase::kRequested || state.phase > Phase::kJoining || waits_for_capacity(state)) continue;
    first = std::min(first.value_or(state.due), state.due);
  }
  return first;
}

Status Autoscaler::advance(Instant now) {
  for (GroupState& state : groups_) {
    const bool over = state.phase == Phase::kRequested && now >= state.due && !state.group.capacity;
    if (!over || state.group.queued) continue;
    const Duration wait = options_.backoff * (1 << std::min(state.failures, 10));
    state.phase = Phase::kEmpty;
    state.backoff_until = now + std::min<Duration>(wait, options_.max_backoff);
    ++state.failures;
    ++counts_.failed_scale_ups;
  }
  for (const Phase from : {Phase::kJoining, Phase::kRegistered, Phase::kRequested}) {
    RETURN_IF_ERROR(advance_groups(now, from));
  }
  return {};
}

Status Autoscaler::advance_groups(Instant now, Phase from) {
  std::vector<GroupState*> due;
  std::vector<GroupNode> nodes;
  for (GroupState& state : groups_) {
    if (state.phase != from || now < state.due || waits_for_capacity(state)) continue;
    due.push_back(&state);
    for (GroupNode& node : nodes_of(state.group)) nodes.push_back(node);
  }
  if (from == Phase::kRequested) {
    RETURN_IF_ERROR(nodes_.register_nodes(nodes));
  } else if (from == Phase::kRegistered) {
    RETURN_IF_ERROR(nodes_.start_kubelets(nodes));
  } else {
    RETURN_IF_ERROR(nodes_.add_chips(nodes));
  }
  for (GroupState* state : due) {
    state->phase = static_cast<Phase>(static_cast<int>(from) + 1);
    state->due = now + options_.start_time / 2;
    state->failures = 0;
  }
  return {};
}

Status Autoscaler::scan(Instant now) {
  ASSIGN_OR_RETURN(const ObservedCluster cluster, observe_cluster(reader_));
  RETURN_IF_ERROR(handle_lost_nodes(cluster));
  find_started_groups(cluster);
  ScaleUpSimulation simulation(snapshot_of(cluster), choices(now));
  if (options_.provisioning_requests) {
    RETURN_IF_ERROR(requests_.place_booked(simulation, cluster, now));
    cancel_queued_groups();
  }
  RETURN_IF_ERROR(scale_up(simulation, cluster, now));
  RETURN_IF_ERROR(scale_down(simulation.snapshot(), cluster, now));
  return write_status(cluster, now);
}

Status Autoscaler::handle_lost_nodes(const ObservedCluster& cluster) {
  for (GroupState& state : groups_) {
    if (state.phase < Phase::kRegistered) continue;
    const std::vector<GroupNode> nodes = nodes_of(state.group);
    const bool whole =
        std::ranges::all_of(nodes, [&](const GroupNode& node) { return cluster.nodes.contains(node.name()); });
    if (whole) continue;
    RETURN_IF_ERROR(nodes_.taint(nodes, true));
    RETURN_IF_ERROR(delete_group(state));
  }
  return {};
}

void Autoscaler::find_started_groups(const ObservedCluster& cluster) {
  for (GroupState& state : groups_) {
    if (state.phase != Phase::kStarting) continue;
    const std::vector<GroupNode> nodes = nodes_of(state.group);
    const bool started = std::ranges::all_of(nodes, [&](const GroupNode& node) {
      const auto found = cluster.nodes.find(node.name());
      return found != cluster.nodes.end() && accepts_pods(found->second, state.group);
    });
    if (started) state.phase = Phase::kRunning;
  }
}

void Autoscaler::cancel_queued_groups() {
  for (GroupState& state : groups_) {
    if (waits_for_capacity(state) && requests_.resize_request_of(state.group.pool.name).empty()) {
      state.phase = Phase::kEmpty;
    }
  }
}

ClusterSnapshot Autoscaler::snapshot_of(const ObservedCluster& cluster) const {
  ClusterSnapshot snapshot(cluster.namespaces);
  std::set<std::string> deleted;
  for (const GroupState& state : groups_) {
    const bool upcoming = state.phase >= Phase::kRequested && state.phase <= Phase::kStarting;
    for (const GroupNode& node : nodes_of(state.group)) {
      if (upcoming) snapshot.add_node(template_node(state.group, node.host), true);
      if (upcoming || state.phase == Phase::kEmpty) deleted.insert(node.name());
    }
  }
  for (const auto& [name, node] : cluster.nodes) {
    if (!deleted.contains(name)) snapshot.add_node(node, false);
  }
  for (const ObservedPod& pod : cluster.pods) {
    if (pod.info.finished) continue;
    const std::string& node = pod.info.node_name.empty() ? pod.nominated_node : pod.info.node_name;
    if (!node.empty()) snapshot.add_pod(pod.info, node);
  }
  return snapshot;
}

std::vector<GroupChoice> Autoscaler::choices(Instant now) const {
  std::vector<GroupChoice> all;
  for (const GroupState& state : groups_) {
    GroupChoice choice{&state.group, ""};
    if (state.phase != Phase::kEmpty || state.group.max == 0) {
      choice.blocked = "max node group size reached";
    } else if (now < state.backoff_until) {
      choice.blocked = "in backoff after failed scale-up";
    }
    all.push_back(std::move(choice));
  }
  return all;
}

Status Autoscaler::scale_up(ScaleUpSimulation& simulation, const ObservedCluster& cluster, Instant now) {
  std::vector<std::pair<const ObservedPod*, PodOutcome>> outcomes;
  for (const ObservedPod& pod : cluster.pods) {
    if (pod.asks_for_nodes()) outcomes.emplace_back(&pod, simulation.provide(pod.info));
  }
  Status requests;
  if (options_.provisioning_requests) requests = requests_.handle_new(simulation, cluster, now);
  std::map<std::string, int> sizes;
  for (GroupState& state : groups_) {
    const bool below_min = state.phase == Phase::kEmpty && state.group.min > 0 && now >= state.backoff_until;
    if (!below_min && !simulation.scaled_up().contains(state.group.pool.name)) continue;
    state.phase = Phase::kRequested;
    if (state.group.queued) {
      state.group.pool.labels[kResizeRequestLabel] = requests_.resize_request_of(state.group.pool.name);
    }
    state.due = now + options_.provision_time;
    state.unneeded_since.reset();
    sizes[state.group.pool.name] = state.group.pool.hosts;
    ++counts_.scale_ups;
  }
  for (const auto& [pod, outcome] : outcomes) {
    if (!outcome.group.empty()) {
      RETURN_IF_ERROR(report_.pod_triggered(*pod, outcome.group, sizes[outcome.group]));
    } else if (!outcome.fits) {
      RETURN_IF_ERROR(report_.pod_not_triggered(*pod, outcome.reasons));
    }
  }
  return requests;
}

Status Autoscaler::scale_down(const ClusterSnapshot& snapshot, const ObservedCluster& cluster, Instant now) {
  std::set<std::string> needed = snapshot.placed_on();
  for (const ObservedPod& pod : cluster.pods) {
    if (pod.keeps_node()) needed.insert(pod.info.node_name);
    if (!pod.nominated_node.empty()) needed.insert(pod.nominated_node);
  }
  for (GroupState& state : groups_) {
    if (state.phase != Phase::kRunning && state.phase != Phase::kTainted) continue;
    const std::vector<GroupNode> nodes = nodes_of(state.group);
    const bool unneeded =
        std::ranges::none_of(nodes, [&](const GroupNode& node) { return needed.contains(node.name()); });
    if (!unneeded) {
      state.unneeded_since.reset();
      if (state.phase == Phase::kTainted) RETURN_IF_ERROR(nodes_.taint(nodes, false));
      state.phase = Phase::kRunning;
      continue;
    }
    if (state.phase == Phase::kTainted) {
      RETURN_IF_ERROR(delete_group(state));
      continue;
    }
    if (!state.unneeded_since) state.unneeded_since = now;
    if (!options_.unneeded_time || state.group.min > 0) continue;
    if (now < *state.unneeded_since + *options_.unneeded_time) continue;
    RETURN_IF_ERROR(nodes_.taint(nodes, true));
    state.phase = Phase::kTainted;
  }
  return {};
}

Status Autoscaler::delete_group(GroupState& state) {
  RETURN_IF_ERROR(nodes_.remove(nodes_of(state.group)));
  state.phase = Phase::kEmpty;
  state.unneeded_since.reset();
  ++counts_.scale_downs;
  return {};
}

Status Autoscaler::write_status(const ObservedCluster& cluster, Instant now) {
  if (now < next_status_) return {};
  std::vector<GroupReport> reports;
  for (const GroupState& state : groups_) {
    GroupReport report{.name = state.group.pool.name, .min = state.group.min, .max = state.group.max};
    for (const GroupNode& node : nodes_of(state.group)) {
      const auto found = cluster.nodes.find(node.name());
      if (found == cluster.nodes.end()) continue;
      ++report.registered;
      if (accepts_pods(found->second, state.group)) ++report.ready;
    }
    report.target = state.phase == Phase::kEmpty ? 0 : state.group.pool.hosts;
    report.in_backoff = now < state.backoff_until;
    report.unneeded = state.unneeded_since.has_value();
    reports.push_back(std::move(report));
  }
  RETURN_IF_ERROR(report_.write(static_cast<int>(cluster.nodes.size()), reports));
  next_status_ = now + kStatusInterval;
  return {};
}

Status Autoscaler::set_capacity(const std::string& group, bool capacity) {
  for (GroupState& state : groups_) {
    if (state.group.pool.name != group) continue;
    state.group.capacity = capacity;
    if (capacity) state.backoff_until = {};
    return {};
  }
  return Error::not_found("no node group {}", group);
}

Status Autoscaler::remove_all() {
  for (GroupState& state : groups_) RETURN_IF_ERROR(delete_group(state));
  return report_.remove();
}

}  // namespace tpuslice::testing
