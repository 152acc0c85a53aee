#include "controllers/leaderworkerset/sets/leader_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/placement.h"
#include "controllers/leaderworkerset/sets/pod_templates.h"

namespace tpuslice::leaderworkerset {
namespace {

StringMap leader_labels(const LeaderWorkerSetSpec& spec, const LeaderSetState& state) {
  return {{std::string(kLwsName), spec.key.name},
          {std::string(kLwsWorkerIndex), std::string(kLeaderIndex)},
          {std::string(kRevisionKey), state.revision_key}};
}

StringMap leader_annotations(const LeaderWorkerSetSpec& spec) {
  StringMap annotations = group_annotations(spec, spec.group);
  const auto put = [&](std::string_view key, std::string_view value) {
    annotations.insert_or_assign(std::string(key), std::string(value));
  };
  if (spec.group.service_per_group) put(kLwsSubdomainPolicy, "UniquePerReplica");
  if (const std::string_view where = slice_leader(spec); !where.empty()) put(tpu::kSliceLeader, where);
  // Otherwise the slice would wait for workers, which are created only once the leader is ready.
  if (leader_has_tpus(spec.group) && workers_are_slices(spec.group) && spec.startup == StartupPolicy::kLeaderReady) {
    put(tpu::kSliceStart, tpu::kOthersFollowHost0);
  }
  return annotations;
}

}  // namespace

Json build_leader_set(const LeaderWorkerSetSpec& spec, const LeaderSetState& state) {
  const StringMap labels = {{std::string(kLwsName), spec.key.name}, {std::string(kRevisionKey), state.revision_key}};
  const StringMap annotations = {{std::string(kReplicas), std::to_string(spec.replicas)}};
  const StringMap selector = {{std::string(kLwsName), spec.key.name},
                              {std::string(kLwsWorkerIndex), std::string(kLeaderIndex)}};
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::int64_t unavailable =
      std::clamp(std::int64_t{spec.rollout.max_unavailable} + spec.rollout.max_surge, std::int64_t{1}, kMax);
  Json set_spec = {
      {"podManagementPolicy", "Parallel"},
      {"replicas", state.replicas},
      {"selector", {{"matchLabels", selector}}},
      {"serviceName", spec.key.name},
      {"template", group_pod_template(spec.group.leader, leader_labels(spec, state), leader_annotations(spec))},
      {"updateStrategy",
       {{"type", "RollingUpdate"},
        {"rollingUpdate", {{"maxUnavailable", unavailable}, {"partition", state.partition}}}}}};
  add_volume_claims(spec.group, spec.key.namespace_name, set_spec);
  return {{"apiVersion", kStatefulSets.api_version()},
          {"kind", kStatefulSets.kind},
          {"metadata",
           {{"name", spec.key.name},
            {"namespace", spec.key.namespace_name},
            {"labels", inherit(spec.labels, labels)},
            {"annotations", inherit(spec.annotations, annotations)},
            {"ownerReferences", Json::array({spec.owner.to_json()})}}},
          {"spec", std::move(set_spec)}};
}

}  // namespace tpuslice::leaderworkerset
