#include "controllers/raycluster/redis_cleanup/redis_cleanup.h"

#include <algorithm>
#include <utility>

#include "api/base/strings.h"
#include "controllers/plan/child.h"
#include "controllers/plan/finalizers.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/redis_cleanup/job.h"

namespace tpuslice::raycluster {
namespace {

using Release = DeletionDecision::Release;

Duration deletion_timeout(const Object& cluster) {
  const std::optional<int> seconds = parse_count(cluster.annotation(kDeletionTimeout));
  return seconds && *seconds > 0 ? std::chrono::seconds(*seconds) : kDefaultDeletionTimeout;
}

/// The garbage collector removes the finalizer "orphan" when it has removed the owner references of the pods.
bool is_deleted_with_orphans(const RayClusterState& state) {
  if (plan::has_finalizer(state.seen.cluster, "orphan")) return true;
  return std::ranges::any_of(not_terminating(state.pods.heads),
                             [](const PodPtr& head) { return !head->has_owner && !head->finished(); });
}

/// Why Redis is not cleaned at all; empty if it is.
std::string reason_to_skip(const RayClusterState& state, const Options& options) {
  const RayClusterSpec& spec = state.spec;
  if (spec.managed_by_other()) return fmt::format("spec.managedBy is {}", spec.managed_by);
  if (!options.redis_cleanup) return "redisCleanup is false in the operator's configuration";
  if (!spec.fault_tolerance.uses_redis()) return "the cluster is not fault-tolerant with Redis any more";
  if (is_deleted_with_orphans(state)) return "the cluster is deleted with --cascade=orphan, and its pods run on";
  const std::optional<plan::Failure>& failure = state.seen.last_failure;
  const bool refused = failure && failure->reason == kFailedRedisCleanupJob && failure->namespace_terminating;
  return refused ? "the namespace is being terminated" : "";
}

/// All pods but orphans, which --cascade=orphan has left for another cluster.
std::vector<PodPtr> pods_to_delete(const RayClusterObserved& seen) {
  std::vector<PodPtr> out = not_terminating(seen.pods);
  std::erase_if(out, [](const PodPtr& pod) { return !pod->has_owner; });
  return out;
}

/// Removes the finalizer if the Job has finished.
void follow_job(const JobView& job, DeletionDecision& out) {
  if (job.condition("Complete") != nullptr) {
    out.release = Release::kCleaned;
    return;
  }
  // After a deadline, FailureTarget is set at once, Failed only when the pod has terminated.
  out.job_failure = job.condition("Failed");
  if (out.job_failure == nullptr) out.job_failure = job.condition("FailureTarget");
  if (out.job_failure != nullptr) out.release = Release::kJobFailed;
}

/// Creates the Job, or follows it. Called once no head writes to Redis.
void clean(const RayClusterState& state, const Options& options, DeletionDecision& out) {
  const RayClusterObserved& seen = state.seen;
  // During a foreground deletion the garbage collector would delete the Job as a dependent of the cluster.
  if (plan::has_finalizer(seen.cluster, "foregroundDeletion")) return;
  if (!seen.jobs_watched) return plan::requeue_within(out.requeue_after, kUnwatchedRetry);
  Result<Object> desired = build_redis_cleanup_job(state.spec, options);
  if (!desired) {
    out.release = Release::kSkipped;
    out.problem = desired.error().message();
    return;
  }
  const JobView* live = seen.cleanup_job.get();
  if (live == nullptr) {
    out.create_job = *std::move(desired);
  } else if (plan::ownership(desired->json(), live->controller) == plan::Ownership::kOwned) {
    if (!live->deleting()) follow_job(*live, out);
  } else {
    out.conflict = plan::describe_owner(desired->json(), live->controller);
    plan::requeue_within(out.requeue_after, plan::kConflictRetry);
  }
}

}  // namespace

bool needs_cleanup_finalizer(const RayClusterSpec& spec, const Object& cluster, const Options& options) {
  return options.redis_cleanup && spec.fault_tolerance.uses_redis() &&
         !plan::has_finalizer(cluster, kRedisCleanupFinalizer);
}

DeletionDecision decide_deletion(const RayClusterState& state, const Options& options) {
  const RayClusterObserved& seen = state.seen;
  if (!plan::has_finalizer(seen.cluster, kRedisCleanupFinalizer)) return {};
  if (std::string skip = reason_to_skip(state, options); !skip.empty()) {
    return {.release = Release::kSkipped, .problem = std::move(skip)};
  }
  const Duration age = seen.now - seen.cluster.deletion_timestamp().value_or(seen.now);
  const Duration timeout = deletion_timeout(seen.cluster);
  if (age >= timeout) return {.release = Release::kTimedOut, .age = age};
  DeletionDecision out{.age = age, .deleted_pods = pods_to_delete(seen)};
  plan::requeue_within(out.requeue_after, timeout - age);
  // A head that still terminates could write what was deleted.
  if (state.pods.heads.empty()) clean(state, options, out);
  return out;
}

}  // namespace tpuslice::raycluster
