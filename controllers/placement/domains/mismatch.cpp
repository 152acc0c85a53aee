#include "controllers/placement/domains/mismatch.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// Most topologies that are listed.
constexpr std::size_t kMaxTopologies = 6;

/// Number of domains by topology, as labels of nodes say it.
std::map<std::string_view, std::size_t> count_topologies(const Domains::ByValue& domains) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& [name, domain] : domains) {
    if (domain.nodes.empty()) continue;
    const std::string_view topology = value_of(domain.nodes.front()->node->labels, tpu::kTopologyLabel);
    if (!topology.empty()) ++counts[topology];
  }
  return counts;
}

std::string list_topologies(const std::map<std::string_view, std::size_t>& counts, bool pools) {
  std::vector<std::string> listed;
  for (const auto& [topology, count] : counts) {
    if (listed.size() == kMaxTopologies) break;
    listed.push_back(pools ? fmt::format("{} ({} pool{})", topology, count, count == 1 ? "" : "s")
                           : fmt::format("{} ({})", topology, count));
  }
  const std::size_t more = counts.size() - listed.size();
  return fmt::format("{}{}", fmt::join(listed, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

std::string explain_mismatch(const NodeRequirements& requirements, const Domains::ByValue& domains) {
  const std::string noun = domain_noun(requirements.topology_key);
  std::string none = fmt::format("no {} matches the pods' node selector and affinity", noun);
  if (requirements.pods.empty()) return none;
  const StringMap& selector = requirements.pods.front().pod->scheduling->node_selector;
  const std::string& accelerator = accelerator_of(selector);
  const std::string& topology = value_of(selector, tpu::kTopologyLabel);
  if (accelerator.empty() || topology.empty()) return none;
  const std::map<std::string_view, std::size_t> counts = count_topologies(domains);
  const auto same = counts.find(topology);
  if (same != counts.end()) {
    return fmt::format("{}, although {} {} of {} {} exist{}", none, same->second,
                       domain_noun(requirements.topology_key, same->second), accelerator, topology,
                       same->second == 1 ? "s" : "");
  }
  if (counts.empty()) {
    return fmt::format("no {} of {} {}; the cluster has no {} of {}", noun, accelerator, topology, noun, accelerator);
  }
  return fmt::format("no {} of {} {}; the cluster has {}", noun, accelerator, topology,
                     list_topologies(counts, requirements.topology_key == tpu::kNodePoolLabel));
}

}  // namespace tpuslice::placement
