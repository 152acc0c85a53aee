// Indexed Jobs and StatefulSets: their controllers number the pods from 0.
#include <fmt/format.h>

#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

/// Pod `index` of `row`, whose pods are numbered: each block of `identity.hosts` pods is a slice.
void set_block(SliceIdentity& identity, const std::string& row, int index) {
  identity.slice_index = index / identity.hosts;
  identity.host_index = index % identity.hosts;
  identity.slice_name = fmt::format("{}-{}", row, identity.slice_index);
  identity.host_names = numbered_hostnames(row, identity.slice_index * identity.hosts);
  identity.coordinator = fmt::format("{}-0.{}", row, identity.subdomain);
}

/// The name of the Job or StatefulSet, which is that in the pods' hostnames, and where it was read.
struct Row {
  std::string name;
  std::string_view path;
};

constexpr std::string_view kJobNamePath = "metadata.labels[batch.kubernetes.io/job-name]";
constexpr std::string_view kOwnerNamePath = "metadata.ownerReferences[controller].name";

Row job_of(const Json& pod) { return {string_at(pod, {"metadata", "labels", kJobName}), kJobNamePath}; }

/// What Jobs and StatefulSets have in common.
Result<MaybeIdentity> identify_numbered_pod(const Json& pod, const Row& row, const Result<std::optional<int>>& index) {
  ASSIGN_OR_RETURN(std::vector<TpuContainer> containers, pod_containers(pod));
  if (containers.empty()) return MaybeIdentity();
  if (!index) return index.error();
  ASSIGN_OR_RETURN(const std::optional<SliceShape> shape, selected_shape(pod));
  SliceIdentity identity;
  identity.subdomain = string_at(pod, {"spec", "subdomain"});
  if (row.name.empty() || !*index || identity.subdomain.empty() || !shape) return MaybeIdentity();
  RETURN_IF_ERROR(check_host_part(row.path, row.name));
  RETURN_IF_ERROR(check_host_part("spec.subdomain", identity.subdomain));
  identity.containers = std::move(containers);
  ASSIGN_OR_RETURN(identity.hosts, set_shape(identity, *shape));
  identity.owner = controller_uid(pod);
  set_block(identity, row.name, **index);
  return MaybeIdentity(std::move(identity));
}

}  // namespace

Result<std::optional<SliceIdentity>> identify_job_pod(const Json& pod) {
  return identify_numbered_pod(pod, job_of(pod), index_annotation(pod, kCompletionIndex));
}

Result<std::optional<SliceIdentity>> identify_stateful_set_pod(const Json& pod) {
  if (string_at(pod, {"spec", "subdomain"}).empty()) return MaybeIdentity();
  Row set{{}, kOwnerNamePath};
  for (const Json& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) set.name = string_at(owner, {"name"});
  }
  ASSIGN_OR_RETURN(MaybeIdentity identity, identify_numbered_pod(pod, set, index_label(pod, kPodIndex)));
  // With podManagementPolicy OrderedReady, which pods do not show, a pod is created once the one before it is ready.
  if (identity && identity->multi_host()) identity->start = kHostByHost;
  return identity;
}

}  // namespace tpuslice::tpu
