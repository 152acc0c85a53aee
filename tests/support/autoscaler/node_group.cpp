#include "tests/support/autoscaler/node_group.h"

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

/// Removes the field from `pool`. Errors: if it is neither 0 nor `hosts`.
Result<int> take_size(Json& pool, const char* field, const std::string& path, int otherwise, int hosts) {
  const auto found = pool.find(field);
  if (found == pool.end()) return otherwise;
  const Json value = *found;
  pool.erase(found);
  if (value == 0) return 0;
  if (hosts == 0 || value == hosts) return value.is_number_integer() ? value.get<int>() : -1;
  return Error::invalid_argument("{}.{}: Invalid value: {}: must be 0 or {}, the hosts of the pool", path, field,
                                 value.dump(), hosts);
}

}  // namespace

NodeGroup node_group(sim::NodePool pool) {
  const int hosts = pool.hosts;
  return {.pool = std::move(pool), .min = 0, .max = hosts};
}

NodeGroup queued_node_group(sim::NodePool pool) {
  constexpr const char* kQueued = "cloud.google.com/gke-queued";
  pool.labels[kQueued] = "true";
  pool.taints.push_back({{"key", kQueued}, {"value", "true"}, {"effect", "NoSchedule"}});
  NodeGroup group = node_group(std::move(pool));
  group.queued = true;
  return group;
}

Result<std::vector<NodeGroup>> parse_node_groups(const Json& list) {
  Json pools = list;
  if (!pools.is_array()) return Error::invalid_argument("groups: must be a list of node pools");
  for (Json& pool : pools) {
    if (!pool.is_object()) continue;
    pool.erase("min");
    pool.erase("max");
  }
  auto parsed = sim::parse_node_pools({{"pools", std::move(pools)}});
  if (!parsed) return parsed.error().within("groups");
  std::vector<NodeGroup> groups;
  for (std::size_t i = 0; i < parsed->size(); ++i) {
    NodeGroup group = node_group(std::move((*parsed)[i]));
    Json sizes = list[i];
    const std::string path = fmt::format("groups[{}]", i);
    const int hosts = group.pool.hosts;
    ASSIGN_OR_RETURN(group.min, take_size(sizes, "min", path, 0, hosts));
    ASSIGN_OR_RETURN(group.max, take_size(sizes, "max", path, hosts, hosts));
    if (group.min > group.max) {
      return Error::invalid_argument("{}.min: Invalid value: {}: must not be more than max", path, group.min);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

sim::NodeInfo template_node(const NodeGroup& group, int host) {
  sim::NodeInfo node;
  node.decode(sim::make_node(group.pool, host, 0, ""));
  node.labels["kubernetes.io/hostname"] = "template-node-for-" + node.name;
  return node;
}

}  // namespace tpuslice::testing
