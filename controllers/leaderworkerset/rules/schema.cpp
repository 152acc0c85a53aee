// Fields of a LeaderWorkerSet, and Kubernetes' rules for the pod templates of StatefulSets.
#include <array>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/validator_parts.h"
#include "tpu/rules/field_shapes.h"

namespace tpuslice::rules {
namespace {

using enum FieldType;

/// The shapes of all fields but numbers, which check_lws_counts() checks.
/// Source: upstream's CRD; the retention policy as Kubernetes checks it when it creates the StatefulSet.
constexpr auto kLwsShapes = std::to_array<FieldShape>({
    {.path = "metadata.annotations", .type = kObject},
    {.path = "spec", .type = kObject, .required = true},
    {.path = "spec.leaderWorkerTemplate", .type = kObject, .required = true},
    {.path = "spec.leaderWorkerTemplate.leaderTemplate", .type = kObject},
    {.path = "spec.leaderWorkerTemplate.leaderTemplate.spec", .type = kObject},
    {.path = "spec.leaderWorkerTemplate.leaderTemplate.spec.containers", .type = kList, .required = true},
    {.path = "spec.leaderWorkerTemplate.leaderTemplate.spec.containers.*", .type = kObject, .required = true},
    {.path = "spec.leaderWorkerTemplate.leaderTemplate.spec.containers.*.name", .type = kString, .required = true},
    {.path = "spec.leaderWorkerTemplate.workerTemplate", .type = kObject, .required = true},
    {.path = "spec.leaderWorkerTemplate.workerTemplate.spec", .type = kObject},
    {.path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers", .type = kList, .required = true},
    {.path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers.*", .type = kObject, .required = true},
    {.path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers.*.name", .type = kString, .required = true},
    {.path = "spec.leaderWorkerTemplate.restartPolicy",
     .type = kString,
     .values = "RecreateGroupOnPodRestart|RecreateGroupAfterStart|None|Default"},
    {.path = "spec.leaderWorkerTemplate.subGroupPolicy", .type = kObject},
    {.path = "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType",
     .type = kString,
     .values = "LeaderWorker|LeaderExcluded"},
    {.path = "spec.leaderWorkerTemplate.volumeClaimTemplates", .type = kList},
    {.path = "spec.leaderWorkerTemplate.volumeClaimTemplates.*", .type = kObject, .required = true},
    {.path = "spec.leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy", .type = kObject},
    {.path = "spec.leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy.whenDeleted",
     .type = kString,
     .values = "Retain|Delete",
     .rule = kKubernetesRule},
    {.path = "spec.leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy.whenScaled",
     .type = kString,
     .values = "Retain|Delete",
     .rule = kKubernetesRule},
    {.path = "spec.rolloutStrategy", .type = kObject},
    // Typed clients that leave the strategy out send an empty type.
    {.path = "spec.rolloutStrategy.type", .type = kString, .values = "RollingUpdate|"},
    {.path = "spec.rolloutStrategy.rollingUpdateConfiguration", .type = kObject},
    {.path = "spec.startupPolicy", .type = kString, .values = "LeaderCreated|LeaderReady"},
    {.path = "spec.networkConfig", .type = kObject},
    {.path = "spec.networkConfig.subdomainPolicy", .type = kString, .values = "Shared|UniquePerReplica"},
});

/// Errors that only the controller would see otherwise, when it creates StatefulSets.
/// Source: Kubernetes' validation of StatefulSets and of pods.
void check_pod_template(const Json& pod, std::string_view path, FieldErrors& errors) {
  const Json* containers = find_set(pod, {"spec", "containers"});
  if (find_set(pod, {"spec"}) == nullptr || (containers != nullptr && containers->is_array() && containers->empty())) {
    errors.push_back(required_value(fmt::format("{}.spec.containers", path), "a pod must have at least one container",
                                    kKubernetesRule));
  }
  const Json* restarts = find_set(pod, {"spec", "restartPolicy"});
  if (restarts != nullptr && *restarts != "Always") {
    errors.push_back(not_supported(fmt::format("{}.spec.restartPolicy", path), *restarts, {"Always"}, kKubernetesRule));
  }
  if (find_set(pod, {"spec", "activeDeadlineSeconds"}) != nullptr) {
    errors.push_back(forbidden(fmt::format("{}.spec.activeDeadlineSeconds", path),
                               "pods of a StatefulSet cannot have a deadline", kKubernetesRule));
  }
}

}  // namespace

void check_lws_schema(const Json& set, const GroupTemplate& group, FieldErrors& errors) {
  if (!set.is_object()) {
    errors.push_back(required_value("spec", "must be set", kLeaderWorkerSetRule));
    return;
  }
  check_shapes(set, kLwsShapes, kLeaderWorkerSetRule, errors);
  if (group.leader != nullptr && group.has_leader_template() && group.leader->is_object()) {
    check_pod_template(*group.leader, kLwsLeaderPath, errors);
  }
  // Unused by groups of one pod with a leader template.
  const bool used = group.size > 1 || !group.has_leader_template();
  if (used && group.worker != nullptr && group.worker->is_object()) {
    check_pod_template(*group.worker, kLwsWorkerPath, errors);
  }
}

}  // namespace tpuslice::rules
