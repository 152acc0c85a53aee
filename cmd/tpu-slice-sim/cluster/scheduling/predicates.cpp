#include "cmd/tpu-slice-sim/cluster/scheduling/predicates.h"

#include <algorithm>

#include <fmt/core.h>

namespace tpuslice::sim {

namespace {

bool holds(const NodeTerm& term, const NodeInfo& node) {
  if (term.labels.empty() && term.fields.empty()) return false;  // An empty term selects no node.
  return all_match(term.labels, node.labels) && all_match(term.fields, {{"metadata.name", node.name}});
}

bool selected(const PodInfo& pod, const NodeInfo& node) {
  for (const auto& [key, value] : pod.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  if (!pod.node_affinity) return true;
  return std::any_of(pod.node_affinity->begin(), pod.node_affinity->end(),
                     [&](const NodeTerm& term) { return holds(term, node); });
}

std::int64_t amount_of(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

std::vector<std::string> shortages(const PodInfo& pod, const NodeInfo& node) {
  std::vector<std::string> out;
  for (const auto& [name, wanted] : pod.requests) {
    if (wanted == 0) continue;
    const std::int64_t free_amount = amount_of(node.allocatable, name) - amount_of(node.requested, name);
    if (wanted <= free_amount) continue;
    out.push_back(name == "pods" ? "Too many pods" : "Insufficient " + name);
  }
  return out;
}

}  // namespace

std::vector<std::string> misfits(const PodInfo& pod, const NodeInfo& node) {
  const Taint unschedulable{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  if (node.unschedulable && !tolerates(pod.tolerations, unschedulable)) return {"node(s) were unschedulable"};
  for (const Taint& taint : node.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (!tolerates(pod.tolerations, taint)) {
      return {fmt::format("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value)};
    }
  }
  // The taint of a node that is not Ready is written after its condition.
  if (!node.ready) return {"node(s) were not ready"};
  if (!selected(pod, node)) return {"node(s) didn't match Pod's node affinity/selector"};
  return shortages(pod, node);
}

std::int64_t score(const PodInfo& pod, const NodeInfo& node) {
  std::int64_t total = 0;
  for (const NodeTerm& term : pod.preferred_nodes) {
    if (holds(term, node)) total += std::int64_t{100} * term.weight;
  }
  for (const Taint& taint : node.taints) {
    if (taint.effect == "PreferNoSchedule" && !tolerates(pod.tolerations, taint)) total -= 300;
  }
  for (const char* name : {"cpu", "memory"}) {
    const std::int64_t capacity = amount_of(node.allocatable, name);
    if (capacity <= 0) continue;
    const double used = static_cast<double>(amount_of(node.requested, name) + amount_of(pod.requests, name));
    total += static_cast<std::int64_t>(50.0 * (1.0 - used / static_cast<double>(capacity)));
  }
  return total;
}

}  // namespace tpuslice::sim
