#include "controllers/leaderworkerset/sets/worker_set.h"

#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/placement.h"
#include "controllers/leaderworkerset/sets/pod_templates.h"
#include "tpu/chips.h"

namespace tpuslice::leaderworkerset {
namespace {

StringMap worker_selector(const LeaderWorkerSetSpec& spec, const Leader& leader) {
  return {{std::string(kLwsName), spec.key.name},
          {std::string(kLwsGroupIndex), std::to_string(leader.group)},
          {std::string(kLwsGroupKey), leader.group_key}};
}

StringMap worker_annotations(const LeaderWorkerSetSpec& spec, const GroupTemplate& group, const Leader& leader) {
  StringMap annotations = group_annotations(spec, group);
  annotations.insert_or_assign(std::string(kLwsLeaderName), leader.name);
  if (leader.has_tpus) annotations.insert_or_assign(std::string(kLwsLeaderHasTpus), "true");
  return annotations;
}

}  // namespace

Leader Leader::read(const LeaderWorkerSetSpec& spec, const PodView& pod, int group_index, const GroupTemplate& group) {
  Leader leader;
  leader.name = pod.key.name;
  leader.uid = pod.uid;
  leader.group = group_index;
  leader.group_key = pod.label(kLwsGroupKey);
  if (leader.group_key.empty()) leader.group_key = tpuslice::leaderworkerset::group_key(spec, group_index);
  leader.revision_key = pod.label(kRevisionKey);
  // The view counts chips of containers only; the template has the init containers.
  leader.has_tpus = tpu::chips_of(pod) > 0 || leader_has_tpus(group);
  return leader;
}

ControllerRef leader_reference(const std::string& name, const std::string& uid) {
  return {std::string(kPods.version), std::string(kPods.kind), name, uid};
}

Json build_worker_set(const LeaderWorkerSetSpec& spec, const GroupTemplate& group, const Leader& leader,
                      const Domain& domain) {
  const StringMap selector = worker_selector(spec, leader);
  StringMap labels = selector;
  labels.insert_or_assign(std::string(kRevisionKey), leader.revision_key);
  Json pods = group_pod_template(group.worker, labels, worker_annotations(spec, group, leader));
  if (!domain.key.empty()) pods["spec"]["nodeSelector"][domain.key] = domain.value;
  Json set_spec = {{"ordinals", {{"start", 1}}},
                   {"podManagementPolicy", "Parallel"},
                   {"replicas", group.workers()},
                   {"selector", {{"matchLabels", selector}}},
                   {"serviceName", group.service_per_group ? leader.name : spec.key.name},
                   {"template", std::move(pods)}};
  add_volume_claims(group, spec.key.namespace_name, set_spec);
  const ControllerRef owner = leader_reference(leader.name, leader.uid);
  return {{"apiVersion", kStatefulSets.api_version()},
          {"kind", kStatefulSets.kind},
          {"metadata",
           {{"name", leader.name},
            {"namespace", spec.key.namespace_name},
            {"labels", inherit(spec.labels, labels)},
            {"annotations", inherit(spec.annotations, {})},
            {"ownerReferences", Json::array({owner.to_json()})}}},
          {"spec", std::move(set_spec)}};
}

std::string group_key(const LeaderWorkerSetSpec& spec, int group) {
  return sha1_hex(fmt::format("{}/{}", spec.key.namespace_name, group_name(spec, group)));
}

}  // namespace tpuslice::leaderworkerset
