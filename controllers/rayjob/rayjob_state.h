// RayJobState: what the planner of a RayJob decides from. Draft: what it has decided so far.
#pragma once

#include <string>
#include <string_view>

#include "api/types/conditions.h"
#include "controllers/plan/changes.h"
#include "controllers/plan/child.h"
#include "controllers/rayjob/observed.h"
#include "controllers/rayjob/rayjob_options.h"
#include "controllers/rayjob/rayjob_status.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::rayjob {

/// Stages of a plan.
enum class Step : std::uint8_t { kFinalizer, kDeletes, kService, kCluster, kSubmitter, kSelf };

/// Borrows from observation and options.
struct RayJobState {
  RayJobState(const RayJobObserved& observed, const Options& all_options);

  const RayJobObserved& seen;
  const Options& options;
  const RayJobSpec& spec;
  const RayJobStatus status;  ///< The status as observed, before this plan.
  /// Why the spec is not carried out. A RayJob that has begun is followed to its end, but no child is created for it.
  const Problem refusal;

  /// The observed cluster, unless it is another owner's that has the name of ours, or is being deleted; else null.
  [[nodiscard]] const ObjectView* usable_cluster() const;
  /// The cluster is controlled by this RayJob.
  [[nodiscard]] bool owns_cluster() const;
  /// The Job is controlled by this RayJob.
  [[nodiscard]] bool owns_submitter() const;
};

struct Draft {
  explicit Draft(const RayJobState& state) : status(state.status) {}

  RayJobStatus status;
  plan::Changes changes;
  Problem cluster;           ///< Why the cluster is not ready.
  std::string lost_workers;  ///< What is missing of a cluster that was complete when the job began; empty if nothing.
  Problem children;          ///< Why a child does not exist.
};

/// Events of an action: `done` is sent if it succeeds, `failed` if it fails.
struct EventTexts {
  std::string_view reason;          ///< Normal; empty: no such event.
  std::string_view failure_reason;  ///< Warning.
  std::string done;
  std::string failed;
};
void add_action(Step step, plan::Action action, std::string_view failure_reason, EventTexts texts, Draft& draft);

/// The RayJob has ended without success: Failed, or Retrying if another attempt is allowed. DeadlineExceeded and
/// JobStatusCheckTimeoutExceeded are not retried.
void fail(const RayJobState& state, std::string_view reason, std::string message, Draft& draft);
/// Ends the RayJob by the status of the Ray job: SUCCEEDED and STOPPED are Complete, FAILED is a failure. `reason` of
/// the status: upstream sets one only if it did not wait for the submitter.
void end_by_ray(const RayJobState& state, std::string_view reason, Draft& draft);

/// "; it is retried: attempt 2 of 3", or why it is not.
[[nodiscard]] std::string describe_retry(const RayJobState& state, std::string_view reason);

}  // namespace tpuslice::rayjob
