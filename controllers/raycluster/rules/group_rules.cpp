#include "controllers/raycluster/rules/group_rules.h"

#include <fmt/format.h>

#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::rules {
namespace {

/// The head is always one pod, so a wrong number of hosts is reported as an error of its topology.
void check_head_slice(const Json& pod, const std::string& path, FieldErrors& errors) {
  HostsField hosts;
  hosts.path = fmt::format("{}.spec.nodeSelector[{}]", path, tpu::kTopologyLabel);
  hosts.found = tpu::node_label(pod, tpu::kTopologyLabel);
  hosts.advice = [](int) { return "the head is one pod, use a topology of one host"; };
  check_tpu_pod(pod, path, hosts, errors);
}

}  // namespace

void for_each_group(const ClusterView& cluster, const GroupVisitor& visit) {
  const Json& groups = array_at(cluster.json, {"spec", "workerGroupSpecs"});
  for (std::size_t index = 0; index < groups.size(); ++index) {
    if (groups[index].is_object()) {
      visit(groups[index], cluster.spec.groups[index], cluster.at(fmt::format("workerGroupSpecs[{}]", index)));
    }
  }
}

bool check_count(const Json& json, std::string_view field, const std::string& path, FieldErrors& errors) {
  const Json* value = find_set(json, {field});
  if (value == nullptr) return true;
  const auto number = int32_at(json, {field});
  if (number && *number >= 0) return true;
  errors.push_back(invalid_value(
      fmt::format("{}.{}", path, field), *value,
      number ? "must be greater than or equal to 0" : "must be between 0 and 2147483647, inclusive", kKubeRayRule));
  return false;
}

void check_group_slices(const ClusterView& cluster, FieldErrors& errors) {
  if (const Json* head = cluster.spec.head.pod_template; head != nullptr) {
    check_head_slice(*head, cluster.at("headGroupSpec.template"), errors);
  }
  for_each_group(cluster, [&](const Json& json, const raycluster::WorkerGroup& group, const std::string& path) {
    if (group.pod_template == nullptr) return;
    const Json* declared = find_set(json, {"numOfHosts"});
    HostsField hosts;
    hosts.path = path + ".numOfHosts";
    hosts.pods = group.hosts;
    hosts.found = declared == nullptr ? Json(group.hosts) : *declared;
    hosts.advice = [](int count) { return fmt::format("set numOfHosts: {}", count); };
    check_tpu_pod(*group.pod_template, path + ".template", hosts, errors);
  });
}

}  // namespace tpuslice::rules
