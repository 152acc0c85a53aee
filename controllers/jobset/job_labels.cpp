#include "controllers/jobset/job_labels.h"

#include "api/types/hash.h"
#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

void set(StringMap& marks, std::string_view key, std::string value) {
  marks.insert_or_assign(std::string(key), std::move(value));
}

/// Both annotations come from the place that has the first.
void take_placement(const StringMap& from, StringMap& to) {
  const auto topology = from.find(tpu::kJobSetTopologyKey);
  if (topology == from.end()) return;
  set(to, tpu::kJobSetTopologyKey, topology->second);
  const auto strategy = from.find(tpu::kJobSetNodeSelector);
  if (strategy != from.end()) set(to, tpu::kJobSetNodeSelector, strategy->second);
}

}  // namespace

StringMap job_marks(const JobSetSpec& spec, const ReplicatedJob& job, int index, const JobSetStatus& status) {
  StringMap marks;
  set(marks, tpu::kJobSetName, spec.key.name);
  set(marks, tpu::kJobSetUid, spec.uid);
  set(marks, tpu::kReplicatedJobName, job.name);
  set(marks, kRestartAttempt, std::to_string(status.restarts));
  // Upstream has this one only where single Jobs can be restarted, too.
  if (spec.failure && spec.failure->restarts_single_jobs()) {
    set(marks, kJobRestartAttempt, std::to_string(status.restarts_of(job.name, index)));
  }
  set(marks, tpu::kReplicatedJobReplicas, std::to_string(job.replicas));
  set(marks, kGlobalReplicas, std::to_string(spec.total_replicas()));
  set(marks, tpu::kJobIndex, std::to_string(index));
  set(marks, kJobKey, sha1_hex(spec.key.namespace_name + "/" + job_name(spec, job, index)));
  set(marks, kJobGlobalIndex, std::to_string(spec.jobs_before(job) + index));
  set(marks, kGroupName, job.group);
  set(marks, kGroupReplicas, std::to_string(spec.group_replicas(job.group)));
  set(marks, kJobGroupIndex, std::to_string(spec.jobs_before(job, job.group) + index));
  if (!spec.coordinator.empty()) set(marks, kCoordinator, spec.coordinator);
  return marks;
}

StringMap placement_annotations(const JobSetSpec& spec, const ReplicatedJob& job) {
  StringMap annotations;
  take_placement(spec.annotations, annotations);
  if (job.job_template != nullptr) {
    take_placement(string_map_at(*job.job_template, {"metadata", "annotations"}), annotations);
  }
  return annotations;
}

}  // namespace tpuslice::jobset
