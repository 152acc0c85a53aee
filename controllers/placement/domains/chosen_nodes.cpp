#include "controllers/placement/domains/chosen_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

constexpr std::size_t kMaxListedDomains = 6;

}  // namespace

Result<ChosenNodes> chosen_nodes(const NodeRequirements& requirements, Inventory& inventory, std::string_view viewer) {
  const auto refuse = [](const std::string& reason) { return Error::of(ErrorCode::kConflict, "{}", reason); };
  const auto chosen = std::ranges::count_if(requirements.hostnames, [](const auto& name) { return !name.empty(); });
  if (chosen < requirements.open_hosts) {
    return refuse(fmt::format("{} of its {} pods select a node by {}: all or none must", chosen,
                              requirements.open_hosts, tpu::kHostnameLabel));
  }
  ChosenNodes out;
  std::set<std::string> domains;
  std::map<std::string, std::int64_t> chips;  // By node.
  for (const std::string& hostname : requirements.hostnames) {
    if (hostname.empty()) continue;  // The host has succeeded, or is created once host 0 has a node.
    const NodeView* node = inventory.node_by_hostname(hostname);
    if (node == nullptr) {
      return refuse(fmt::format("its pods select node {}, which does not exist or has another accelerator", hostname));
    }
    out.nodes.push_back(node->key.name);
    domains.insert(domain_of_node(*node, requirements.topology_key));
    chips[node->key.name] += requirements.chips;
    if (chips[node->key.name] > tpu::chips_of(*node)) {
      return refuse(fmt::format("{} chips are asked for on node {}, which its pods select and which has {}",
                                chips[node->key.name], node->key.name, tpu::chips_of(*node)));
    }
  }
  if (domains.size() > 1) {
    std::vector<std::string> listed(domains.begin(), domains.end());
    if (listed.size() > kMaxListedDomains) listed.resize(kMaxListedDomains);
    return refuse(fmt::format("its pods select nodes of {} {}, a slice runs in one: {}", domains.size(),
                              domain_noun(requirements.topology_key, domains.size()), fmt::join(listed, ", ")));
  }
  out.domain = *domains.begin();
  Fit fit = inventory.check(requirements, out.domain, viewer);
  if (fit.obstacle == Obstacle::kMismatch) {
    return refuse("the nodes that its pods select do not match their node selector and affinity");
  }
  if (fit.obstacle != Obstacle::kNone) return refuse(fit.text);
  if (chosen < requirements.hosts) out.nodes.clear();
  return out;
}

}  // namespace tpuslice::placement
