// JobBuilder: the Jobs of a JobSet as they are created.
#pragma once

#include "controllers/jobset/options.h"
#include "controllers/jobset/spec.h"
#include "controllers/jobset/status.h"

namespace tpuslice::jobset {

/// Owns what it builds from, so it outlives the observation. Thread-safe.
class JobBuilder {
 public:
  /// `jobset` as `spec` was read from it.
  JobBuilder(Object jobset, JobSetStatus status, Options options);

  enum class Pods : std::uint8_t {
    kBornRight,  ///< The template has all that a TPU pod needs, where a template can carry it.
    kAsWritten,  ///< The webhook adds it to each pod.
  };

  /// The Job with that index of the `job`-th replicated job.
  ///
  /// Errors: InvalidArgument, naming the field, where the pods would contradict themselves (tpu/identity.h).
  [[nodiscard]] Result<Json> build(std::size_t job, int index, Pods pods = Pods::kBornRight) const;

 private:
  const Object jobset_;
  const JobSetSpec spec_;  // Borrows from jobset_.
  const JobSetStatus status_;
  const Options options_;
};

}  // namespace tpuslice::jobset
