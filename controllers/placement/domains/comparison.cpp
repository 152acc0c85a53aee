#include "controllers/placement/domains/comparison.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "controllers/placement/slices.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"

namespace tpuslice::placement {
namespace {

/// Whether several pods may share a node of the accelerator, each with some of its chips. Users may have other
/// accelerators than those of the catalog, of which this is not known.
bool may_split(const NodeView& node) {
  const auto accelerator = tpu::find_accelerator(accelerator_of(node.labels));
  return !accelerator.ok() || (*accelerator)->splits_hosts();
}

/// Why the slice cannot use the node, which matches its requirements; empty if it can. `split`: may_split().
std::string unusable_reason(const NodeRequirements& requirements, const NodeView& node, bool split) {
  const std::string& name = node.key.name;
  if (node.minimal) return fmt::format("node {} cannot be read", name);
  if (node.unschedulable) return fmt::format("node {} is cordoned", name);
  if (const std::string ending = removal_reason(node); !ending.empty()) return fmt::format("node {} {}", name, ending);
  if (tpu::chips_of(node) == 0) return fmt::format("node {} advertises no TPU chips", name);
  const bool fits = split ? tpu::chips_of(node) % requirements.chips == 0 : tpu::chips_of(node) == requirements.chips;
  if (requirements.chips > tpu::chips_of(node) || !fits) {
    return fmt::format("node {} has {} chips, a pod asks for {}", name, tpu::chips_of(node), requirements.chips);
  }
  // Which of different pods share a node is not known.
  const std::int64_t pods = requirements.pods.size() == 1 ? tpu::chips_of(node) / requirements.chips : 1;
  for (const PodRequirements& each : requirements.pods) {
    const std::string taint = untolerated_taint(*each.pod, node);
    if (!taint.empty()) return fmt::format("node {} has taint {}", name, taint);
    const std::string lacking = lacking_resource(*each.pod, pods, node);
    if (!lacking.empty()) return fmt::format("node {} {}", name, lacking);
  }
  return {};
}

bool is_ready(const NodeView& node) { return node.ready && !node.deletion; }

/// For each node, whether a pod may run on it; empty if one of the pods may run on none.
std::vector<bool> matched_nodes(const NodeRequirements& requirements, const std::vector<NodeUse*>& nodes) {
  if (requirements.pods.empty()) return {};
  std::vector<bool> matched(nodes.size());
  for (const PodRequirements& pod : requirements.pods) {
    bool any = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!pod.match(*nodes[i]->node)) continue;
      matched[i] = true;
      any = true;
    }
    if (!any) return {};
  }
  return matched;
}

}  // namespace

Fit compare(const NodeRequirements& requirements, const std::string& domain, const std::vector<NodeUse*>& nodes) {
  if (requirements.chips <= 0) return {Obstacle::kMismatch, {}};  // A user set the gate; admission gates only TPU pods.
  if (requirements.too_many) return {Obstacle::kMismatch, {}};
  const std::vector<bool> matched = matched_nodes(requirements, nodes);
  if (matched.empty()) return {Obstacle::kMismatch, {}};
  const bool split = may_split(*nodes.front()->node);
  std::int64_t chips = 0;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeUse* use = nodes[i];
    if (!matched[i]) {
      return {Obstacle::kUnusable, fmt::format("{}: node {} does not match the pods' node selector and affinity",
                                               domain, use->node->key.name)};
    }
    if (std::string reason = unusable_reason(requirements, *use->node, split); !reason.empty()) {
      return {Obstacle::kUnusable, fmt::format("{}: {}", domain, reason)};
    }
    if (tpu::chips_of(*use->node) != tpu::chips_of(*nodes.front()->node)) {
      return {Obstacle::kUnusable, fmt::format("{}: nodes {} and {} have different numbers of chips", domain,
                                               nodes.front()->node->key.name, use->node->key.name)};
    }
    chips += tpu::chips_of(*use->node);
    if (is_ready(*use->node)) ++ready;
  }
  const std::int64_t wanted = requirements.chips * requirements.hosts;
  const std::int64_t nodes_wanted = wanted / tpu::chips_of(*nodes.front()->node);
  if (chips > wanted) {
    return {Obstacle::kUnusable,
            fmt::format("{} has {} nodes, the slice needs exactly {}", domain, nodes.size(), nodes_wanted)};
  }
  if (chips < wanted || ready < nodes.size()) {
    return {Obstacle::kUnusable, fmt::format("{} has {} of {} nodes Ready", domain, ready, nodes_wanted)};
  }
  Fit fit;
  fit.preference = requirements.pods.front().preference(*nodes.front()->node);
  for (const NodeUse* use : nodes) {
    fit.capacity = std::max(fit.capacity, capacity_of(*use->node));
    if (fit.unhealthy.empty()) fit.unhealthy = unhealthy_partition(*use->node);
    if (const auto maintenance = scheduled_maintenance(*use->node)) set_earlier(fit.maintenance, *maintenance);
  }
  return fit;
}

const Fit& Comparison::with(const std::string& name, const Domain& domain) {
  const auto [known, is_new] = results_.try_emplace(&domain);
  Compared& result = known->second;
  // Domains that are gone leave results behind, at addresses that may be used again.
  if (is_new || result.revision != domain.revision) {
    result = {domain.revision, compare(requirements_, name, domain.nodes)};
  }
  return result.fit;
}

void Comparison::forget_old_results(std::size_t domains) {
  if (results_.size() > 2 * domains + kMinResults) results_.clear();
}

}  // namespace tpuslice::placement
