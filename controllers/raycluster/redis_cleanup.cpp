#include "controllers/raycluster/redis_cleanup.h"

#include <algorithm>
#include <utility>

#include "api/base/strings.h"
#include "controllers/plan/changes.h"
#include "controllers/plan/child.h"
#include "controllers/plan/finalizers.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

using plan::Action;
using plan::ActionEvents;
using plan::Changes;
using plan::EventType;

constexpr std::string_view kFailedRedisCleanupJob = "FailedRedisCleanupJob";

/// Stages of the plan.
enum class CleanupStep : std::uint8_t { kPods, kJob, kFinalizer };

/// What is reported of a patch that adds or removes the finalizer.
ActionEvents finalizer_events() {
  return {.on_failure = {{EventType::kWarning, "FailedToUpdateFinalizer", "UpdateFinalizer",
                          fmt::format("Failed to update finalizer {}", kRedisCleanupFinalizer)}}};
}

/// Removes the finalizer, so that the deletion goes on. `event` is sent once it is removed, if `message` is not empty.
void release(const Object& cluster, std::string reason, std::string_view event, std::string message, Changes& changes) {
  ActionEvents events = finalizer_events();
  if (!message.empty()) {
    events.on_success = {{EventType::kWarning, std::string(event), "Cleanup", std::move(message)}};
  }
  changes.add(CleanupStep::kFinalizer, plan::remove_finalizer(kRayClusters, cluster, kRedisCleanupFinalizer),
              std::move(events));
  changes.reasons.push_back(std::move(reason));
}

Duration deletion_timeout(const Object& cluster) {
  const std::optional<int> seconds = parse_count(cluster.annotation(kDeletionTimeout));
  return seconds && *seconds > 0 ? std::chrono::seconds(*seconds) : kDefaultDeletionTimeout;
}

/// Text for events: the state stays in Redis.
std::string remains(const RayClusterSpec& spec) {
  return fmt::format("Redis storage namespace \"{}\" may need manual cleanup", spec.fault_tolerance.storage_namespace);
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

/// Deletes all pods but orphans, which --cascade=orphan has left for another cluster.
void delete_pods(const RayClusterObserved& seen, Changes& changes) {
  std::size_t deleted = 0;
  for (const PodPtr& pod : not_terminating(seen.pods)) {
    if (!pod->has_owner) continue;
    changes.add(CleanupStep::kPods, Action::remove(kPods, pod->key, {.uid = pod->uid}));
    ++deleted;
  }
  if (deleted > 0) changes.reasons.push_back(fmt::format("the cluster is being deleted: deleting {} pods", deleted));
}

void create_job(const RayClusterSpec& spec, Object job, Changes& changes) {
  const ObjectKey key = job.key();
  Action action = Action::create(kJobs, std::move(job));
  action.failure_reason = kFailedRedisCleanupJob;
  changes.add(
      CleanupStep::kJob, std::move(action),
      plan::result_events(
          {"CreatedRedisCleanupJob", fmt::format("Created Redis cleanup Job {}", key.to_string())},
          {"FailedToCreateRedisCleanupJob", fmt::format("Failed to create Redis cleanup Job {}", key.to_string())},
          "CreateRedisCleanupJob"));
  changes.reasons.push_back(fmt::format("creating job {} to delete storage namespace {} from Redis", key.name,
                                        spec.fault_tolerance.storage_namespace));
}

/// Releases the cluster if its Job has finished.
void follow_job(const RayClusterState& state, const JobView& job, Changes& changes) {
  if (job.condition("Complete") != nullptr) {
    return release(state.seen.cluster, fmt::format("job {} has deleted the state of the GCS from Redis", job.key.name),
                   {}, {}, changes);
  }
  // After a deadline, FailureTarget is set at once, Failed only when the pod has terminated.
  for (const char* type : {"Failed", "FailureTarget"}) {
    const JobCondition* failed = job.condition(type);
    if (failed == nullptr) continue;
    return release(state.seen.cluster, fmt::format("job {} has failed: {}", job.key.name, failed->reason),
                   "RedisCleanupFailed",
                   fmt::format("Redis cleanup Job {} failed ({}: {}); {}", job.key.to_string(), failed->reason,
                               failed->message, remains(state.spec)),
                   changes);
  }
}

/// Creates the Job, or follows it. Called once no head writes to Redis.
void clean(const RayClusterState& state, const Options& options, Changes& changes) {
  const auto& [seen, spec, pods, phase] = state;
  // During a foreground deletion the garbage collector would delete the Job as a dependent of the cluster.
  if (plan::has_finalizer(seen.cluster, "foregroundDeletion")) return;
  if (!seen.jobs_watched) return changes.requeue_within(kUnwatchedRetry);
  Result<Object> desired = build_redis_cleanup_job(spec, options);
  if (!desired) {
    return release(seen.cluster, "the cleanup of Redis is skipped: " + desired.error().message(), "RedisCleanupSkipped",
                   fmt::format("No Redis cleanup Job: {}; {}", desired.error().message(), remains(spec)), changes);
  }
  const JobView* live = seen.cleanup_job.get();
  if (live == nullptr) return create_job(spec, *std::move(desired), changes);
  if (plan::ownership(desired->json(), live->controller) == plan::Ownership::kOwned) {
    if (!live->deleting()) follow_job(state, *live, changes);
    return;
  }
  changes.reasons.push_back(plan::describe_owner(desired->json(), live->controller) + ": waiting until it is deleted");
  changes.requeue_within(plan::kConflictRetry);
}

plan::Plan without_status(Changes changes, const Object& cluster) {
  const Json status = plan::status_of(cluster);
  return plan::to_plan(std::move(changes), status, status);
}

}  // namespace

bool needs_cleanup_finalizer(const RayClusterSpec& spec, const Object& cluster, const Options& options) {
  return options.redis_cleanup && spec.fault_tolerance.uses_redis() &&
         !plan::has_finalizer(cluster, kRedisCleanupFinalizer);
}

Action add_cleanup_finalizer(const Object& cluster) {
  Action action = plan::add_finalizer(kRayClusters, cluster, kRedisCleanupFinalizer);
  action.events = std::make_shared<const ActionEvents>(finalizer_events());
  return action;
}

plan::Plan plan_deletion(const RayClusterState& state, const Options& options) {
  const auto& [seen, spec, pods, phase] = state;
  Changes changes;
  if (!plan::has_finalizer(seen.cluster, kRedisCleanupFinalizer)) return {};
  if (const std::string skip = reason_to_skip(state, options); !skip.empty()) {
    release(seen.cluster, fmt::format("the cleanup of Redis is skipped: {}", skip), "RedisCleanupSkipped",
            fmt::format("No Redis cleanup Job: {}; {}", skip, remains(spec)), changes);
    return without_status(std::move(changes), seen.cluster);
  }
  const Duration age = seen.now - seen.cluster.deletion_timestamp().value_or(seen.now);
  const Duration timeout = deletion_timeout(seen.cluster);
  if (age >= timeout) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age);
    release(seen.cluster, "the cleanup of Redis takes too long: the cluster does not wait for it any more",
            "ForceDeletedStuckCluster",
            fmt::format("Force-removed GCS FT finalizer after {}s due to Redis cleanup timeout; {}", seconds.count(),
                        remains(spec)),
            changes);
    return without_status(std::move(changes), seen.cluster);
  }
  changes.requeue_within(timeout - age);
  delete_pods(seen, changes);
  // A head that still terminates could write what was deleted.
  if (pods.heads.empty()) clean(state, options, changes);
  return without_status(std::move(changes), seen.cluster);
}

}  // namespace tpuslice::raycluster
