#include "webhook/rules/raycluster/groups.h"

#include <fmt/format.h>

#include "tpu/labels.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {

void for_each_group(const Json& cluster, const std::function<void(const Json&, const std::string&)>& visit) {
  const Json* groups = find_set(cluster, {"spec", "workerGroupSpecs"});
  if (groups == nullptr || !groups->is_array()) return;
  for (std::size_t index = 0; index < groups->size(); ++index) {
    if ((*groups)[index].is_object()) visit((*groups)[index], fmt::format("spec.workerGroupSpecs[{}]", index));
  }
}

void check_group_slices(const Json& cluster, std::vector<FieldError>& errors) {
  if (const Json* head = find_set(cluster, {"spec", "headGroupSpec", "template"}); head != nullptr) {
    // The head is one pod, whatever its fields say; where that does not fit, the topology is at fault.
    const std::string path = "spec.headGroupSpec.template";
    HostsField hosts;
    hosts.path = fmt::format("{}.spec.nodeSelector[{}]", path, tpu::kTopologyLabel);
    hosts.found = string_at(*head, {"spec", "nodeSelector", tpu::kTopologyLabel});
    hosts.advice = [](int) { return "the head is one pod, use a topology of one host"; };
    check_tpu_pod(*head, path, hosts, errors);
  }
  for_each_group(cluster, [&](const Json& group, const std::string& path) {
    const Json* pod = find_set(group, {"template"});
    if (pod == nullptr) return;
    const std::int64_t declared = int_at(group, {"numOfHosts"}).value_or(1);
    HostsField hosts;
    hosts.path = path + ".numOfHosts";
    hosts.pods = declared == 0 ? 1 : declared;
    hosts.found = declared;
    hosts.advice = [](int count) { return fmt::format("set numOfHosts: {}", count); };
    check_tpu_pod(*pod, path + ".template", hosts, errors);
  });
}

}  // namespace tpuslice::webhook
