// JobPods: the pods of a Job: what one looks like when it is made, and what can be read from it later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/sim/storage.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// Holds a pod until its end has been counted in the status of its Job.
inline constexpr std::string_view kJobFinalizer = "batch.kubernetes.io/job-tracking";
/// Annotation and label of the same name.
inline constexpr std::string_view kJobIndex = "batch.kubernetes.io/job-completion-index";

/// How often earlier pods of an index failed: only Jobs with backoffLimitPerIndex keep it, on their pods.
struct IndexFailures {
  int counted = 0;
  int ignored = 0;  ///< By the pod failure policy.
};

/// The Job that controls an object, from its owner references.
struct JobReference {
  std::string uid;
  std::string name;
  friend bool operator==(const JobReference&, const JobReference&) = default;
};
[[nodiscard]] std::optional<JobReference> controlling_job(const Json& object);
/// Whether anything controls it, a Job or something else.
[[nodiscard]] bool has_controller(const Json& object);

/// A new pod of `job`, with generateName. `failures` is written to it where it is set.
[[nodiscard]] Json make_job_pod(const Json& job, std::optional<int> index, std::optional<IndexFailures> failures);

[[nodiscard]] bool indexed(const Json& job);
/// Whether only pods that have ended are replaced, rather than all that were told to.
[[nodiscard]] bool replaces_only_failed(const Json& job);
/// Whether somebody else than this controller is to run it.
[[nodiscard]] bool managed_elsewhere(const Json& job);

[[nodiscard]] std::optional<int> completion_index(const Json& pod);
[[nodiscard]] IndexFailures index_failures(const Json& pod);
/// Whether it has kJobFinalizer.
[[nodiscard]] bool tracked(const Json& pod);
/// Neither over nor told to end.
[[nodiscard]] bool pod_active(const Json& pod);
/// Told to end, and not over.
[[nodiscard]] bool pod_ending(const Json& pod);
/// Over without success; where pods are replaced early, told to end is enough.
[[nodiscard]] bool pod_failed(const Json& pod, const Json& job);
/// When its containers ended, or the best that is known of it.
[[nodiscard]] Timestamp finished_at(const Json& pod);

/// Which `count` active pods go first: not bound, pending, not ready, ready since shortly, restarted often, young. Of
/// an Indexed Job, all whose index is taken or none go, however few are asked for.
[[nodiscard]] std::vector<JsonPtr> pods_to_remove(const Json& job, const std::vector<JsonPtr>& active, int count);

}  // namespace tpuslice::sim
