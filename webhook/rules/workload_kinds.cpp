#include "webhook/rules/workload_kinds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tpu/labels.h"
#include "tpu/lws_group.h"
#include "webhook/rules/jobset/validator.h"
#include "webhook/rules/leaderworkerset/group_member.h"
#include "webhook/rules/leaderworkerset/validator.h"
#include "webhook/rules/raycluster/validator.h"
#include "webhook/rules/rayjob/validator.h"
#include "webhook/rules/rayservice/validator.h"

namespace tpuslice::webhook {
namespace {

using tpu::SliceIdentity;

Status prepare_lws_pod(PodDraft& pod) {
  ASSIGN_OR_RETURN(const std::optional<tpu::LwsGroup> group, tpu::read_lws_group(pod.json));
  if (group) set_member_labels(pod, *group);
  return {};
}

void adjust_lws_identity(const Json& pod, SliceIdentity& identity) { identity.start = member_start(pod, identity); }

Status complete_lws_pod(PodDraft& pod, const SliceIdentity* identity, const MutationOptions& options) {
  ASSIGN_OR_RETURN(const std::optional<tpu::LwsGroup> group, tpu::read_lws_group(pod.json));
  if (!group) return {};
  set_member_placement(pod, *group, identity != nullptr && identity->multi_host(), options.topology_key);
  return inject_member_env(pod, *group);
}

constexpr PodSteps kLwsPodSteps{prepare_lws_pod, adjust_lws_identity, complete_lws_pod};

constexpr auto kWorkloadKinds = std::to_array<WorkloadKind>({
    {.kind = "LeaderWorkerSet",
     .group = "leaderworkerset.x-k8s.io",
     .version = "v1",
     .path = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
     .validate = validate_leaderworkerset,
     .warn = warn_leaderworkerset,
     .pod_label = tpu::kLwsName,
     .uid_in_template = true,
     .identify = tpu::identify_leader_worker_set_pod,
     .steps = &kLwsPodSteps,
     .injects_init_containers = true},
    {.kind = "RayCluster",
     .group = "ray.io",
     .version = "v1",
     .path = "/validate-ray-io-v1-raycluster",
     .validate = validate_raycluster,
     .unsupported_fields = unsupported_fields,
     .warn = [](const Json& object, const Json*) { return warn_raycluster(object); },
     .pod_label = tpu::kRayCluster,
     .identify = tpu::identify_ray_cluster_pod,
     .indexes_missing = "Turn on KubeRay's feature gate RayMultiHostIndexing"},
    {.kind = "RayJob",
     .group = "ray.io",
     .version = "v1",
     .path = "/validate-ray-io-v1-rayjob",
     .validate = validate_rayjob,
     .unsupported_fields = unsupported_rayjob_fields,
     .warn = warn_rayjob},
    {.kind = "RayService",
     .group = "ray.io",
     .version = "v1",
     .path = "/validate-ray-io-v1-rayservice",
     .validate = validate_rayservice,
     .unsupported_fields = unsupported_rayservice_fields,
     .warn = warn_rayservice},
    {.kind = "JobSet",
     .group = "jobset.x-k8s.io",
     .version = "v1alpha2",
     .path = "/validate-jobset-x-k8s-io-v1alpha2-jobset",
     .validate = validate_jobset,
     .unsupported_fields = unsupported_jobset_fields,
     .warn = [](const Json& object, const Json*) { return warn_jobset(object); },
     .pod_label = tpu::kJobSetName,
     .uid_label = tpu::kJobSetUid,
     .identify = tpu::identify_job_set_pod},
    {.kind = "Job", .group = "batch", .version = "v1", .pod_label = tpu::kJobName, .identify = tpu::identify_job_pod},
    {.kind = "StatefulSet", .group = "apps", .version = "v1", .identify = tpu::identify_stateful_set_pod},
});

std::string pod_label(const Json& pod, std::string_view label) {
  return label.empty() ? std::string() : string_at(pod, {"metadata", "labels", label});
}

std::string workload_uid(const Json& pod, const WorkloadKind& kind) {
  if (kind.uid_in_template) return string_at(pod, {"metadata", "annotations", tpu::kWorkloadUid});
  return pod_label(pod, kind.uid_label);
}

/// Whether the pod's controller is of this kind, and named `name` unless that is empty.
bool is_controlled_by(const Json& pod, const WorkloadKind& kind, std::string_view name) {
  const std::string group = fmt::format("{}/", kind.group);
  for (const Json& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (!bool_at(owner, {"controller"}) || string_at(owner, {"kind"}) != kind.kind) continue;
    if (name.empty()) return true;
    return string_at(owner, {"name"}) == name && string_at(owner, {"apiVersion"}).starts_with(group);
  }
  return false;
}

}  // namespace

std::span<const WorkloadKind> workload_kinds() { return kWorkloadKinds; }

const WorkloadKind* kind_of_pod(const Json& pod) {
  const auto found = std::ranges::find_if(kWorkloadKinds, [&](const WorkloadKind& kind) {
    if (kind.identify == nullptr) return false;
    return kind.pod_label.empty() ? is_controlled_by(pod, kind, {}) : !pod_label(pod, kind.pod_label).empty();
  });
  return found == kWorkloadKinds.end() ? nullptr : &*found;
}

Result<std::optional<SliceIdentity>> identify_pod(const Json& pod) {
  if (const WorkloadKind* kind = kind_of_pod(pod)) return kind->identify(pod);
  if (const Json* spec = find_path(pod, {"spec"})) RETURN_IF_ERROR(tpu::tpu_containers(*spec));
  return std::optional<SliceIdentity>();
}

std::optional<tpu::WorkloadRef> workload_beyond_controller(const Json& pod, const WorkloadKind& kind) {
  const std::string name = pod_label(pod, kind.pod_label);
  if (name.empty() || is_controlled_by(pod, kind, name)) return std::nullopt;
  return tpu::WorkloadRef{fmt::format("{}/{}", kind.group, kind.version), std::string(kind.kind), name,
                          workload_uid(pod, kind)};
}

}  // namespace tpuslice::webhook
