#include "tests/e2e/runner/autoscaler_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/e2e/runner/step_reader.h"

namespace tpuslice::e2e {
namespace {

Status read_durations(const Members& members, testing::AutoscalerOptions& options) {
  if (const YamlNode* const node = members.find("provision time")) {
    ASSIGN_OR_RETURN(options.provision_time, node->duration());
  }
  if (const YamlNode* const node = members.find("unneeded time")) {
    ASSIGN_OR_RETURN(options.unneeded_time, node->duration());
  }
  if (const YamlNode* const node = members.find("backoff")) {
    ASSIGN_OR_RETURN(options.backoff, node->duration());
  }
  return {};
}

Status check_names(const YamlNode& node, const std::vector<testing::NodeGroup>& groups, const Json& pools) {
  std::vector<sim::NodePool> others = sim::default_node_pools();
  if (!pools.is_null()) {
    ASSIGN_OR_RETURN(others, sim::parse_node_pools({{"pools", pools}}));
  }
  for (const testing::NodeGroup& group : groups) {
    const bool taken =
        std::ranges::any_of(others, [&](const sim::NodePool& pool) { return pool.name == group.pool.name; });
    if (taken) return node.error(fmt::format("group \"{}\" has the name of a pool", group.pool.name));
  }
  return {};
}

testing::NodeGroup* find_group(std::vector<testing::NodeGroup>& groups, const std::string& name) {
  const auto found =
      std::ranges::find_if(groups, [&](const testing::NodeGroup& group) { return group.pool.name == name; });
  return found == groups.end() ? nullptr : &*found;
}

}  // namespace

Result<testing::AutoscalerOptions> read_autoscaler(const YamlNode& node, const Json& pools) {
  ASSIGN_OR_RETURN(const Members members, node.members({"provision time", "unneeded time", "backoff", "groups",
                                                        "without capacity", "provisioning requests"}));
  testing::AutoscalerOptions options;
  RETURN_IF_ERROR(read_durations(members, options));
  ASSIGN_OR_RETURN(const YamlNode groups, members.at("groups"));
  auto parsed = testing::parse_node_groups(groups.json());
  if (!parsed) return with_location(groups, parsed.error());
  options.groups = std::move(*parsed);
  RETURN_IF_ERROR(check_names(groups, options.groups, pools));
  if (const YamlNode* const without = members.find("without capacity")) {
    ASSIGN_OR_RETURN(const auto names, without->list());
    for (const YamlNode& each : names) {
      ASSIGN_OR_RETURN(const std::string name, each.text());
      testing::NodeGroup* const group = find_group(options.groups, name);
      if (group == nullptr) return each.error(fmt::format("no group is named \"{}\"", name));
      group->capacity = false;
    }
  }
  if (const YamlNode* const requests = members.find("provisioning requests")) {
    ASSIGN_OR_RETURN(options.provisioning_requests, requests->boolean());
  }
  return options;
}

Status check_autoscaler_step(const YamlNode& node, const Step& step,
                             const std::optional<testing::AutoscalerOptions>& autoscaler) {
  const auto* const set = std::get_if<SetCapacity>(&step.action);
  if (set == nullptr && !std::holds_alternative<ControlAutoscaler>(step.action)) return {};
  if (!autoscaler) return node.error("the scenario has no autoscaler");
  if (set == nullptr) return {};
  const bool known = std::ranges::any_of(
      autoscaler->groups, [&](const testing::NodeGroup& group) { return group.pool.name == set->group; });
  return known ? Status() : Status(node.error(fmt::format("no group is named \"{}\"", set->group)));
}

}  // namespace tpuslice::e2e
