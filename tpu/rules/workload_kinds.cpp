#include "tpu/rules/workload_kinds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tpu/labels.h"

namespace tpuslice::rules {
namespace {

using tpu::SliceIdentity;

constexpr auto kCoreKinds = std::to_array<WorkloadKind>({
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

std::span<const WorkloadKind> core_kinds() { return kCoreKinds; }

const WorkloadKind* kind_of_pod(const Json& pod, WorkloadKinds kinds) {
  const auto found = std::ranges::find_if(kinds, [&](const WorkloadKind* kind) {
    if (kind->identify == nullptr) return false;
    return kind->pod_label.empty() ? is_controlled_by(pod, *kind, {}) : !pod_label(pod, kind->pod_label).empty();
  });
  return found == kinds.end() ? nullptr : *found;
}

Result<std::optional<SliceIdentity>> identify_pod(const Json& pod, WorkloadKinds kinds) {
  if (const WorkloadKind* kind = kind_of_pod(pod, kinds)) return kind->identify(pod);
  if (const Json* spec = find_path(pod, {"spec"})) RETURN_IF_ERROR(tpu::tpu_containers(*spec));
  return std::optional<SliceIdentity>();
}

std::optional<tpu::WorkloadRef> workload_beyond_controller(const Json& pod, const WorkloadKind& kind) {
  const std::string name = pod_label(pod, kind.pod_label);
  if (name.empty() || is_controlled_by(pod, kind, name)) return std::nullopt;
  return tpu::WorkloadRef{fmt::format("{}/{}", kind.group, kind.version), std::string(kind.kind), name,
                          workload_uid(pod, kind)};
}

}  // namespace tpuslice::rules
