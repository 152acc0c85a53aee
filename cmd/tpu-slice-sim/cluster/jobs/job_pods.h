// JobPods: creation and state of the pods of a Job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/types/json.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// Delays the removal of a pod until it was counted in the status of its Job.
inline constexpr std::string_view kJobFinalizer = "batch.kubernetes.io/job-tracking";
/// Annotation and label of the same name.
inline constexpr std::string_view kJobIndex = "batch.kubernetes.io/job-completion-index";

/// Failures of earlier pods of an index; annotations of pods of Jobs with backoffLimitPerIndex.
struct IndexFailures {
  int counted = 0;
  int ignored = 0;  ///< By the pod failure policy.
};

/// The controller owner of an object, if it is a Job.
struct JobReference {
  std::string uid;
  std::string name;
  friend bool operator==(const JobReference&, const JobReference&) = default;
};
[[nodiscard]] std::optional<JobReference> controlling_job(const Json& object);
/// Whether the object has a controller owner of any kind.
[[nodiscard]] bool has_controller(const Json& object);

/// A new pod of `job`, with generateName, and with the annotations for `failures` if given.
[[nodiscard]] Json make_job_pod(const Json& job, std::optional<int> index, std::optional<IndexFailures> failures);

[[nodiscard]] bool indexed(const Json& job);
/// Whether podReplacementPolicy is Failed: terminating pods are not replaced before they are terminal.
[[nodiscard]] bool replaces_only_failed(const Json& job);
/// Whether spec.managedBy is another controller.
[[nodiscard]] bool has_other_manager(const Json& job);

[[nodiscard]] std::optional<int> completion_index(const Json& pod);
[[nodiscard]] IndexFailures index_failures(const Json& pod);
/// Whether it has kJobFinalizer.
[[nodiscard]] bool tracked(const Json& pod);
/// Whether the pod is neither terminal nor terminating.
[[nodiscard]] bool pod_active(const Json& pod);
/// Terminating, and not terminal.
[[nodiscard]] bool pod_terminating(const Json& pod);
/// Failed; unless podReplacementPolicy is Failed, also terminating.
[[nodiscard]] bool pod_failed(const Json& pod, const Json& job);
/// When its last container terminated, or the closest known time.
[[nodiscard]] Timestamp finished_at(const Json& pod);

/// The `count` active pods to delete first: not bound, pending, not ready, ready for a short time, restarted often,
/// new. For an Indexed Job, first all pods with a duplicate index or no index, even if more than `count`.
[[nodiscard]] std::vector<JsonPtr> pods_to_remove(const Json& job, const std::vector<JsonPtr>& active, int count);

}  // namespace tpuslice::sim
