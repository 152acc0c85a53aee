// Indexed Jobs, also those of JobSets, and StatefulSets: their controllers number the pods from 0.
#include <fmt/format.h>

#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

/// "<jobset>-<replicated job>"
Result<std::string> job_set_prefix(const Json& pod) {
  const std::string job_set = string_at(pod, {"metadata", "labels", kJobSetName});
  const std::string job = string_at(pod, {"metadata", "labels", kReplicatedJobName});
  RETURN_IF_ERROR(check_label_part(kJobSetName, job_set));
  RETURN_IF_ERROR(check_label_part(kReplicatedJobName, job));
  return fmt::format("{}-{}", job_set, job);
}

/// Pod `index` of `row`, whose pods are numbered: each block of `identity.hosts` pods is a slice.
void set_block(SliceIdentity& identity, const std::string& row, int index) {
  identity.slice_index = index / identity.hosts;
  identity.host_index = index % identity.hosts;
  identity.slice_name = fmt::format("{}-{}", row, identity.slice_index);
  identity.host_names = numbered_hostnames(row, identity.slice_index * identity.hosts);
  identity.coordinator = fmt::format("{}-0.{}", row, identity.subdomain);
}

/// A Job of a JobSet is one slice, unless its pods are slices of one host each.
Status set_job_set_slice(SliceIdentity& identity, const Json& pod, const std::string& job, int index) {
  ASSIGN_OR_RETURN(const std::optional<int> job_index, index_label(pod, kJobIndex));
  ASSIGN_OR_RETURN(const std::optional<int> replicas, index_label(pod, kReplicatedJobReplicas));
  if (index >= identity.hosts && identity.multi_host()) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}, set parallelism and completions: {}",
                                   annotation_path(kCompletionIndex), index, describe_hosts(identity, identity.hosts),
                                   identity.hosts);
  }
  const bool one_slice = index < identity.hosts;
  ASSIGN_OR_RETURN(const std::string prefix, job_set_prefix(pod));
  const std::string uid = string_at(pod, {"metadata", "labels", kJobSetUid});
  identity.owner = fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}),
                               uid.empty() ? string_at(pod, {"metadata", "labels", kJobSetName}) : uid);
  identity.topology_key = string_at(pod, {"metadata", "annotations", kJobSetTopologyKey});
  // JobSet's webhook refuses the other pods until pod 0 has a node, unless nodes were labelled for the Job before.
  const bool has_labelled_nodes = !string_at(pod, {"metadata", "annotations", kJobSetNodeSelector}).empty();
  if (!identity.topology_key.empty() && !has_labelled_nodes) identity.start = kFirstHostFirst;
  if (!one_slice) return {};  // A multislice job of single hosts stays within the Job.
  identity.slice_name = job;
  identity.slice_index = job_index.value_or(0);
  // Replicas of single hosts serve independently unless a container declares MEGASCALE_NUM_SLICES, as in RayClusters.
  if (identity.multi_host()) identity.slices = replicas.value_or(1);
  identity.coordinator = fmt::format("{}-0-0.{}", prefix, identity.subdomain);
  return {};
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

Result<std::optional<SliceIdentity>> identify_job_set_pod(const Json& pod) {
  const Row job = job_of(pod);
  const Result<std::optional<int>> index = index_annotation(pod, kCompletionIndex);
  ASSIGN_OR_RETURN(MaybeIdentity identity, identify_numbered_pod(pod, job, index));
  if (identity) RETURN_IF_ERROR(set_job_set_slice(*identity, pod, job.name, **index));
  return identity;
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
