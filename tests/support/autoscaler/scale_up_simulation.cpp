#include "tests/support/autoscaler/scale_up_simulation.h"

#include <algorithm>

#include "cmd/tpu-slice-sim/cluster/scheduling/predicates.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kTpu = "google.com/tpu";

/// Cheap, and false for most nodes of a full cluster.
bool has_chips(const sim::PodInfo& pod, const sim::NodeInfo& node) {
  const auto wanted = pod.requests.find(kTpu);
  if (wanted == pod.requests.end()) return true;
  const auto chips = node.allocatable.find(kTpu);
  if (chips == node.allocatable.end()) return false;
  const auto used = node.requested.find(kTpu);
  return wanted->second <= chips->second - (used == node.requested.end() ? 0 : used->second);
}

}  // namespace

void ClusterSnapshot::add_node(sim::NodeInfo node, bool upcoming) {
  if (upcoming) upcoming_.insert(node.name);
  const std::string name = node.name;
  nodes_.insert_or_assign(name, std::move(node));
}

void ClusterSnapshot::add_pod(sim::PodInfo pod, const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  sim::add(found->second.requested, pod.requests);
  pod.node_name = node;
  pods_.push_back(std::move(pod));
}

sim::AffinityCheck ClusterSnapshot::affinity_of(const sim::PodInfo& pod) const {
  sim::Placement placement{nodes_, {}, namespaces_};
  for (const sim::PodInfo& each : pods_) placement.bound.push_back(&each);
  return {pod, placement};
}

std::optional<std::string> ClusterSnapshot::place(const sim::PodInfo& pod, bool on_upcoming) {
  std::optional<sim::AffinityCheck> affinity;
  for (const auto& [name, node] : nodes_) {
    if (!on_upcoming && upcoming_.contains(name)) continue;
    if (!has_chips(pod, node) || !sim::misfits(pod, node).empty()) continue;
    if (!affinity) affinity.emplace(affinity_of(pod));
    if (!affinity->misfit(node).empty()) continue;
    add_pod(pod, name);
    placed_on_.insert(name);
    return name;
  }
  return std::nullopt;
}

std::string ClusterSnapshot::misfit(const sim::PodInfo& pod, const sim::NodeInfo& node) const {
  const std::vector<std::string> misfits = sim::misfits(pod, node);
  return misfits.empty() ? affinity_of(pod).misfit(node) : misfits.front();
}

void ScaleUpSimulation::scale_up(const NodeGroup& group) {
  for (int host = 0; host < group.pool.hosts; ++host) {
    snapshot_.add_node(template_node(group, host), true);
    group_of_[sim::node_name(group.pool, host)] = group.pool.name;
  }
  scaled_up_.insert(group.pool.name);
}

std::string ScaleUpSimulation::queue(const std::vector<sim::PodInfo>& pods) {
  const auto suits = [&](const GroupChoice& choice) {
    if (!choice.group->queued || !choice.blocked.empty()) return false;
    if (pods.size() > static_cast<std::size_t>(choice.group->pool.hosts)) return false;
    const sim::NodeInfo node = template_node(*choice.group, 0);
    return std::ranges::all_of(pods, [&](const sim::PodInfo& pod) { return snapshot_.misfit(pod, node).empty(); });
  };
  const auto found = std::ranges::find_if(groups_, suits);
  if (found == groups_.end()) return {};
  scale_up(*found->group);
  const std::string name = found->group->pool.name;
  groups_.erase(found);
  return name;
}

PodOutcome ScaleUpSimulation::provide(const sim::PodInfo& pod) {
  PodOutcome outcome;
  if (const auto node = snapshot_.place(pod)) {
    outcome.fits = true;
    if (const auto group = group_of_.find(*node); group != group_of_.end()) outcome.group = group->second;
    return outcome;
  }
  for (auto each = groups_.begin(); each != groups_.end(); ++each) {
    const NodeGroup& group = *each->group;
    std::string reason = group.queued ? "only for queued ProvisioningRequests" : each->blocked;
    if (reason.empty()) reason = snapshot_.misfit(pod, template_node(group, 0));
    if (!reason.empty()) {
      ++outcome.reasons[reason];
      continue;
    }
    scale_up(group);
    outcome.group = group.pool.name;
    outcome.fits = snapshot_.place(pod).has_value();
    outcome.reasons.clear();
    groups_.erase(each);
    break;
  }
  return outcome;
}

}  // namespace tpuslice::testing
