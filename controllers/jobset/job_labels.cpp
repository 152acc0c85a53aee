#include "controllers/jobset/job_labels.h"

#include "api/base/hash.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

void set(StringMap& labels, std::string_view key, std::string value) {
  labels.insert_or_assign(std::string(key), std::move(value));
}

/// Both annotations come from the same object.
void copy_placement(const StringMap& from, StringMap& to) {
  const auto topology = from.find(kJobSetTopologyKey);
  if (topology == from.end()) return;
  set(to, kJobSetTopologyKey, topology->second);
  const auto strategy = from.find(kJobSetNodeSelector);
  if (strategy != from.end()) set(to, kJobSetNodeSelector, strategy->second);
}

}  // namespace

StringMap job_labels(const JobSetSpec& spec, const ReplicatedJob& job, int index, const JobSetStatus& status) {
  StringMap labels;
  set(labels, kJobSetName, spec.key.name);
  set(labels, kJobSetUid, spec.uid);
  set(labels, kReplicatedJobName, job.name);
  set(labels, kRestartAttempt, std::to_string(status.restarts));
  // Like upstream, only if single Jobs can be restarted.
  if (spec.failure && spec.failure->restarts_single_jobs()) {
    set(labels, kJobRestartAttempt, std::to_string(status.restarts_of(job.name, index)));
  }
  set(labels, kReplicatedJobReplicas, std::to_string(job.replicas));
  set(labels, kGlobalReplicas, std::to_string(spec.total_replicas()));
  set(labels, kJobIndex, std::to_string(index));
  set(labels, kJobKey, sha1_hex(spec.key.namespace_name + "/" + job_name(spec, job, index)));
  set(labels, kJobGlobalIndex, std::to_string(spec.jobs_before(job) + index));
  set(labels, kGroupName, job.group);
  set(labels, kGroupReplicas, std::to_string(spec.group_replicas(job.group)));
  set(labels, kJobGroupIndex, std::to_string(spec.jobs_before(job, job.group) + index));
  if (!spec.coordinator.empty()) set(labels, kCoordinator, spec.coordinator);
  return labels;
}

StringMap placement_annotations(const JobSetSpec& spec, const ReplicatedJob& job) {
  StringMap annotations;
  copy_placement(spec.annotations, annotations);
  if (job.job_template != nullptr) {
    copy_placement(string_map_at(*job.job_template, {"metadata", "annotations"}), annotations);
  }
  return annotations;
}

}  // namespace tpuslice::jobset
