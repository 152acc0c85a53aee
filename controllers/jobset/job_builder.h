// JobBuilder: builds the Jobs of a JobSet. Labels and annotations of the Jobs and of their pods are to the byte those
// of upstream.
#pragma once

#include <vector>

#include "api/types/typed.h"
#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/priorities.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Owns its inputs, so that it may outlive the observation. Thread-safe.
class JobBuilder {
 public:
  /// `status` with the attempts that the Jobs belong to.
  JobBuilder(const Typed<JobSetSpec>& jobset, JobSetStatus status, Options options, Priorities priorities = {});

  enum class PodTemplate : std::uint8_t {
    kMutated,    ///< Holds all that admission would add, as far as a template can.
    kUnmutated,  ///< Admission mutates each pod.
  };

  /// The Job with this index of the replicated job at position `job`.
  ///
  /// Errors: InvalidArgument, naming the field, if the pods contradict themselves (tpu/identity.h).
  [[nodiscard]] Result<Json> build(std::size_t job, int index, PodTemplate pods = PodTemplate::kMutated) const;

 private:
  const Typed<JobSetSpec> jobset_;
  const JobSetStatus status_;
  const Options options_;
  const Priorities priorities_;
  const std::vector<StringMap> gangs_;  ///< Annotations of pods, by replicated job.
};

/// Labels of a Job and its pods, which both also have as annotations: names, indexes and counts of the Job within the
/// JobSet, the replicated job and the group. Both attempts come from `status`.
[[nodiscard]] StringMap job_labels(const JobSetSpec& spec, const ReplicatedJob& job, int index,
                                   const JobSetStatus& status);

/// Annotations for exclusive placement from the replicated job, or else from the JobSet, for the Job and its pods.
[[nodiscard]] StringMap placement_annotations(const JobSetSpec& spec, const ReplicatedJob& job);

}  // namespace tpuslice::jobset
