// Indexed Jobs, those of JobSets among them, and StatefulSets: their controllers number the pods in a row.
#include <fmt/format.h>

#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

std::string job_set_prefix(const Json& pod) {
  return fmt::format("{}-{}", string_at(pod, {"metadata", "labels", kJobSetName}),
                     string_at(pod, {"metadata", "labels", kReplicatedJobName}));
}

/// Pod `index` of a row named `row`: blocks of `identity.hosts` are slices.
void take_place_in_row(SliceIdentity& identity, const std::string& row, int index) {
  identity.slice_index = index / identity.hosts;
  identity.host_index = index % identity.hosts;
  identity.slice_name = fmt::format("{}-{}", row, identity.slice_index);
  identity.host_names = numbered_hostnames(row, identity.slice_index * identity.hosts);
  identity.coordinator = fmt::format("{}-0.{}", row, identity.subdomain);
}

/// A Job of a JobSet is one slice, unless its pods are slices of one host each.
Status take_place_in_job_set(SliceIdentity& identity, const Json& pod, const std::string& job, int index) {
  ASSIGN_OR_RETURN(const std::optional<int> job_index, index_label(pod, kJobIndex));
  ASSIGN_OR_RETURN(const std::optional<int> replicas, index_label(pod, kReplicatedJobReplicas));
  if (index >= identity.hosts && identity.multi_host()) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}, set parallelism and completions: {}",
                                   annotation_path(kCompletionIndex), index, describe_hosts(identity, identity.hosts),
                                   identity.hosts);
  }
  const bool one_slice = index < identity.hosts;
  const std::string uid = string_at(pod, {"metadata", "labels", kJobSetUid});
  identity.owner = fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}),
                               uid.empty() ? string_at(pod, {"metadata", "labels", kJobSetName}) : uid);
  identity.topology_key = string_at(pod, {"metadata", "annotations", kJobSetTopologyKey});
  // JobSet's webhook refuses the others until pod 0 has a node, unless nodes were labelled for the Job beforehand.
  const bool prepared = !string_at(pod, {"metadata", "annotations", kJobSetNodeSelector}).empty();
  if (!identity.topology_key.empty() && !prepared) identity.start = kFirstHostFirst;
  if (!one_slice) return {};  // Single hosts in a row work with each other at most.
  identity.slice_name = job;
  identity.slice_index = job_index.value_or(0);
  identity.slices = replicas.value_or(1);
  identity.coordinator = fmt::format("{}-0-0.{}", job_set_prefix(pod), identity.subdomain);
  return {};
}

}  // namespace

Result<MaybeIdentity> identify_job_worker(const Json& pod, std::vector<TpuContainer> containers) {
  ASSIGN_OR_RETURN(const std::optional<int> index, index_annotation(pod, kCompletionIndex));
  SliceIdentity identity;
  identity.subdomain = string_at(pod, {"spec", "subdomain"});
  ASSIGN_OR_RETURN(const std::optional<SliceShape> shape, selected_shape(pod));
  if (!index || identity.subdomain.empty() || !shape) return MaybeIdentity();

  const bool in_job_set = !string_at(pod, {"metadata", "labels", kJobSetName}).empty();
  const std::string job = string_at(pod, {"metadata", "labels", kJobName});
  identity.workload = in_job_set ? Workload::kJobSet : Workload::kJob;
  identity.containers = std::move(containers);
  ASSIGN_OR_RETURN(identity.hosts, take_shape(identity, *shape));
  identity.owner = controller_uid(pod);
  take_place_in_row(identity, job, *index);
  if (in_job_set) RETURN_IF_ERROR(take_place_in_job_set(identity, pod, job, *index));
  return MaybeIdentity(std::move(identity));
}

Result<MaybeIdentity> identify_stateful_set_worker(const Json& pod, std::vector<TpuContainer> containers) {
  std::string set;
  for (const Json& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"}) && string_at(owner, {"kind"}) == "StatefulSet") set = string_at(owner, {"name"});
  }
  SliceIdentity identity;
  identity.subdomain = string_at(pod, {"spec", "subdomain"});
  if (set.empty() || identity.subdomain.empty()) return MaybeIdentity();
  ASSIGN_OR_RETURN(const std::optional<int> ordinal, index_label(pod, kPodIndex));
  ASSIGN_OR_RETURN(const std::optional<SliceShape> shape, selected_shape(pod));
  if (!ordinal || !shape) return MaybeIdentity();

  identity.workload = Workload::kStatefulSet;
  identity.containers = std::move(containers);
  ASSIGN_OR_RETURN(identity.hosts, take_shape(identity, *shape));
  identity.owner = controller_uid(pod);
  take_place_in_row(identity, set, *ordinal);
  return MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::tpu
