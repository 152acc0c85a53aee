#include "controllers/jobset/rules/jobset_rules.h"

#include <fmt/format.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {
namespace {

/// "<jobset>-<replicated job>"
Result<std::string> job_set_prefix(const Json& pod) {
  const std::string job_set = string_at(pod, {"metadata", "labels", kJobSetName});
  const std::string job = string_at(pod, {"metadata", "labels", kReplicatedJobName});
  RETURN_IF_ERROR(tpu::check_label_part(kJobSetName, job_set));
  RETURN_IF_ERROR(tpu::check_label_part(kReplicatedJobName, job));
  return fmt::format("{}-{}", job_set, job);
}

/// A Job of a JobSet is one slice, unless its pods are slices of one host each.
Status set_slice(tpu::SliceIdentity& identity, const Json& pod, const std::string& job, int index) {
  ASSIGN_OR_RETURN(const std::optional<int> job_index, tpu::index_label(pod, kJobIndex));
  ASSIGN_OR_RETURN(const std::optional<int> replicas, tpu::index_label(pod, kReplicatedJobReplicas));
  if (index >= identity.hosts && identity.multi_host()) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}, set parallelism and completions: {}",
                                   tpu::annotation_path(tpu::kCompletionIndex), index,
                                   tpu::describe_hosts(identity, identity.hosts), identity.hosts);
  }
  const bool one_slice = index < identity.hosts;
  ASSIGN_OR_RETURN(const std::string prefix, job_set_prefix(pod));
  const std::string uid = string_at(pod, {"metadata", "labels", kJobSetUid});
  identity.owner = fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}),
                               uid.empty() ? string_at(pod, {"metadata", "labels", kJobSetName}) : uid);
  identity.topology_key = string_at(pod, {"metadata", "annotations", kJobSetTopologyKey});
  // JobSet's webhook refuses the other pods until pod 0 has a node, unless nodes were labelled for the Job before. Our
  // controller creates all pods at once, and says so in the template.
  const bool has_labelled_nodes = !string_at(pod, {"metadata", "annotations", kJobSetNodeSelector}).empty();
  const bool together = string_at(pod, {"metadata", "annotations", tpu::kSliceStart}) == tpu::kTogether;
  if (!identity.topology_key.empty() && !has_labelled_nodes && !together) identity.start = tpu::kOthersFollowHost0;
  if (!one_slice) return {};  // A multislice job of single hosts stays within the Job.
  identity.slice_name = job;
  identity.slice_index = job_index.value_or(0);
  // Replicas of single hosts serve independently unless a container declares MEGASCALE_NUM_SLICES, as in RayClusters.
  if (identity.multi_host()) identity.slices = replicas.value_or(1);
  identity.coordinator = fmt::format("{}-0-0.{}", prefix, identity.subdomain);
  return {};
}

}  // namespace

Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod) {
  ASSIGN_OR_RETURN(tpu::MaybeIdentity identity, tpu::identify_job_pod(pod));
  if (!identity) return identity;
  ASSIGN_OR_RETURN(const std::optional<int> index, tpu::index_annotation(pod, tpu::kCompletionIndex));
  const std::string job = string_at(pod, {"metadata", "labels", tpu::kJobName});
  RETURN_IF_ERROR(set_slice(*identity, pod, job, index.value_or(0)));
  return identity;
}

}  // namespace tpuslice::jobset
