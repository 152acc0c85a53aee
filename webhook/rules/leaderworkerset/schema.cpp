// Which fields a LeaderWorkerSet has, and what Kubernetes demands of the StatefulSets that are made from its templates.
#include <array>

#include <fmt/format.h>

#include "webhook/rules/field_shapes.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/leaderworkerset/rules.h"

namespace tpuslice::webhook {
namespace {

using enum FieldType;

/// But for the numbers, which have bounds of their own.
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
    {.path = "spec.rolloutStrategy.type", .type = kString, .values = "RollingUpdate"},
    {.path = "spec.rolloutStrategy.rollingUpdateConfiguration", .type = kObject},
    {.path = "spec.startupPolicy", .type = kString, .values = "LeaderCreated|LeaderReady"},
    {.path = "spec.networkConfig", .type = kObject},
    {.path = "spec.networkConfig.subdomainPolicy", .type = kString, .values = "Shared|UniquePerReplica"},
});

/// What the API server would otherwise say to nobody but the controller.
/// Source: Kubernetes' validation of StatefulSets and of pods.
void check_pod_template(const Json& pod, std::string_view path, std::vector<FieldError>& errors) {
  const Json* containers = find_set(pod, {"spec", "containers"});
  if (find_set(pod, {"spec"}) == nullptr || (containers != nullptr && containers->is_array() && containers->empty())) {
    errors.push_back(
        required_value(fmt::format("{}.spec.containers", path), "a pod has at least one container", kKubernetesRule));
  }
  const Json* restarts = find_set(pod, {"spec", "restartPolicy"});
  if (restarts != nullptr && *restarts != "Always") {
    errors.push_back(invalid_value(fmt::format("{}.spec.restartPolicy", path), *restarts,
                                   "pods of a StatefulSet must have Always", kKubernetesRule));
  }
  if (find_set(pod, {"spec", "activeDeadlineSeconds"}) != nullptr) {
    errors.push_back(forbidden(fmt::format("{}.spec.activeDeadlineSeconds", path),
                               "pods of a StatefulSet have no deadline", kKubernetesRule));
  }
}

}  // namespace

void check_lws_schema(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors) {
  if (!set.is_object()) {
    errors.push_back(required_value("spec", "must be set", kLeaderWorkerSetRule));
    return;
  }
  check_shapes(set, kLwsShapes, kLeaderWorkerSetRule, errors);
  if (groups.leader != nullptr && groups.leader_has_template() && groups.leader->is_object()) {
    check_pod_template(*groups.leader, kLwsLeaderPath, errors);
  }
  // Of a group of one that has a leader's template, this one is not used.
  const bool used = groups.size > 1 || !groups.leader_has_template();
  if (used && groups.worker != nullptr && groups.worker->is_object()) {
    check_pod_template(*groups.worker, kLwsWorkerPath, errors);
  }
}

}  // namespace tpuslice::webhook
