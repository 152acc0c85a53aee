// spec.scheduling of a JobSet (JobSet's KEP-969, alpha), and what it means here: the slices of a group with the policy
// Gang start together. Upstream makes a Workload and PodGroups of it, for which kube-scheduler needs a feature that is
// off by default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// What upstream makes a PodGroup of, or, with `per_job`, one PodGroup for each Job.
struct SchedulingGroup {
  std::string path;            ///< "spec.scheduling.replicatedJobs[0].job": where its policy is.
  const Json* json = nullptr;  ///< The object at that path.
  std::vector<const ReplicatedJob*> jobs;
  bool gang = true;
  bool per_job = false;
  std::optional<std::int64_t> min_count;

  /// Number of its pods, of each Job if `per_job`.
  [[nodiscard]] std::int64_t pods() const;
  /// Number of its multi-host slices, of which `per_job` makes groups of their own.
  [[nodiscard]] std::int64_t slices() const;
  /// The replicated jobs whose Jobs are multi-host slices.
  [[nodiscard]] std::vector<const ReplicatedJob*> slice_jobs() const;
};

/// The groups; none without spec.scheduling. With a startup order, a policy for the whole JobSet is one for each
/// replicated job: the pods of a later one do not exist while the first wait. Names that are no replicated job are left
/// out, and of a name that several entries have, all but the first.
[[nodiscard]] std::vector<SchedulingGroup> scheduling_groups(const JobSetSpec& spec);

/// Replicated jobs start one after the other.
[[nodiscard]] bool has_startup_order(const JobSetSpec& spec);

/// The Jobs are multi-host slices. Jobs with TPUs whose accelerator is not known yet count: Kueue sets it later.
[[nodiscard]] bool may_be_slices(const ReplicatedJob& job);

/// Annotations of the pods of each replicated job, in their order: the gang of its slices, which the annotations
/// tpuslice.dev/gang and slices-together of users describe, too. Empty without spec.scheduling, and for pods that are
/// not hosts of multi-host slices: those start on their own.
[[nodiscard]] std::vector<StringMap> gang_annotations(const JobSetSpec& spec);

}  // namespace tpuslice::jobset
