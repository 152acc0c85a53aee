// JobBuilder: builds the Jobs of a JobSet.
#pragma once

#include "api/types/typed.h"
#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Owns its inputs, so that it may outlive the observation. Thread-safe.
class JobBuilder {
 public:
  JobBuilder(const Typed<JobSetSpec>& jobset, JobSetStatus status, Options options);

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
};

}  // namespace tpuslice::jobset
