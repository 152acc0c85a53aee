#include "controllers/raycluster/redis_cleanup/render.h"

#include <memory>
#include <utility>

#include "controllers/plan/changes.h"
#include "controllers/plan/finalizers.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

using plan::Action;
using plan::ActionEvents;
using plan::Changes;
using plan::EventType;

/// Stages of the plan.
enum class CleanupStep : std::uint8_t { kPods, kJob, kFinalizer };

/// What is reported of a patch that adds or removes the finalizer.
ActionEvents finalizer_events() {
  return {.on_failure = {{EventType::kWarning, "FailedToUpdateFinalizer", "UpdateFinalizer",
                          fmt::format("Failed to update finalizer {}", kRedisCleanupFinalizer)}}};
}

void add_pod_deletions(const std::vector<PodPtr>& pods, Changes& changes) {
  if (pods.empty()) return;
  for (const PodPtr& pod : pods) {
    changes.add(CleanupStep::kPods, Action::remove(kPods, pod->key, {.uid = pod->uid}));
  }
  changes.reasons.push_back(fmt::format("the cluster is being deleted: deleting {} pods", pods.size()));
}

void add_cleanup_job(const RayClusterSpec& spec, const Object& job, Changes& changes) {
  const ObjectKey key = job.key();
  Action action = Action::create(kJobs, job);
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

/// Removes the finalizer, so that the deletion goes on. `event` is sent once it is removed, if `message` is not empty.
void remove_cleanup_finalizer(const RayClusterState& state, std::string reason, Changes& changes,
                              std::string_view event = {}, const std::string& message = {}) {
  ActionEvents events = finalizer_events();
  if (!message.empty()) {
    events.on_success = {{EventType::kWarning, std::string(event), "Cleanup",
                          fmt::format("{}; Redis storage namespace \"{}\" may need manual cleanup", message,
                                      state.spec.fault_tolerance.storage_namespace)}};
  }
  changes.add(CleanupStep::kFinalizer, plan::remove_finalizer(kRayClusters, state.seen.cluster, kRedisCleanupFinalizer),
              std::move(events));
  changes.reasons.push_back(std::move(reason));
}

void add_release(const RayClusterState& state, const DeletionDecision& decision, Changes& changes) {
  switch (decision.release) {
    case DeletionDecision::Release::kNone:
      break;
    case DeletionDecision::Release::kSkipped:
      remove_cleanup_finalizer(state, "the cleanup of Redis is skipped: " + decision.problem, changes,
                               "RedisCleanupSkipped", "No Redis cleanup Job: " + decision.problem);
      break;
    case DeletionDecision::Release::kTimedOut:
      remove_cleanup_finalizer(state, "the cleanup of Redis takes too long: the cluster does not wait for it any more",
                               changes, "ForceDeletedStuckCluster",
                               fmt::format("Force-removed GCS FT finalizer after {}s due to Redis cleanup timeout",
                                           std::chrono::duration_cast<std::chrono::seconds>(decision.age).count()));
      break;
    case DeletionDecision::Release::kCleaned:
      remove_cleanup_finalizer(
          state, fmt::format("job {} has deleted the state of the GCS from Redis", state.seen.cleanup_job->key.name),
          changes);
      break;
    case DeletionDecision::Release::kJobFailed: {
      const ObjectKey& job = state.seen.cleanup_job->key;
      const JobCondition& failure = *decision.job_failure;
      remove_cleanup_finalizer(
          state, fmt::format("job {} has failed: {}", job.name, failure.reason), changes, "RedisCleanupFailed",
          fmt::format("Redis cleanup Job {} failed ({}: {})", job.to_string(), failure.reason, failure.message));
      break;
    }
  }
}

}  // namespace

Action add_cleanup_finalizer(const Object& cluster) {
  Action action = plan::add_finalizer(kRayClusters, cluster, kRedisCleanupFinalizer);
  action.events = std::make_shared<const ActionEvents>(finalizer_events());
  return action;
}

plan::Plan render_deletion(const RayClusterState& state, const DeletionDecision& decision) {
  Changes changes;
  if (decision.requeue_after) changes.requeue_within(*decision.requeue_after);
  add_pod_deletions(decision.deleted_pods, changes);
  if (decision.create_job) add_cleanup_job(state.spec, *decision.create_job, changes);
  if (!decision.conflict.empty()) changes.reasons.push_back(decision.conflict + ": waiting until it is deleted");
  add_release(state, decision, changes);
  const Json status = plan::status_of(state.seen.cluster);
  return plan::to_plan(std::move(changes), status, status);
}

}  // namespace tpuslice::raycluster
