#include "controllers/rayjob/cleanup.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/head.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/teardown.h"

namespace tpuslice::rayjob {
namespace {

/// How long after a failure the Ray job is stopped. Later, its id may belong to a job of the user.
constexpr Duration kStopWindow = std::chrono::minutes(1);

bool matches(DeletionRule::Condition condition, const RayJobStatus& status) {
  switch (condition) {
    case DeletionRule::Condition::kSucceeded:
      return status.job == ray::kSucceeded;
    case DeletionRule::Condition::kNotSucceeded:
      return status.job != ray::kSucceeded;
    case DeletionRule::Condition::kDeploymentFailed:
      return status.deployment == kFailed;
  }
  return false;
}

std::vector<DeletionRule> rules_of(const RayJobSpec& spec, const RayJobStatus& status) {
  std::vector<DeletionRule> out;
  if (spec.has_deletion_strategy) {
    std::ranges::copy_if(spec.deletion, std::back_inserter(out),
                         [&](const DeletionRule& rule) { return matches(rule.condition, status); });
  } else if (spec.shutdown) {
    out.push_back({DeletionPolicy::kCluster, {}, spec.ttl});
  }
  if (spec.selects_cluster) {
    std::erase_if(out, [](const DeletionRule& rule) { return rule.policy != DeletionPolicy::kSelf; });
  }
  return out;
}

void delete_workers(const RayJobState& state, Draft& draft) {
  if (!state.owns_cluster() || state.seen.cluster->deletion) return;
  const ObjectView& live = *state.seen.cluster;
  const Object cluster = live.object();
  const Json& before = array_at(cluster.json(), {"spec", "workerGroupSpecs"});
  Json groups = before;
  for (Json& group : groups) {
    if (group.is_object()) group["suspend"] = true;
  }
  if (groups == before) return;
  const std::string name = live.key.to_string();
  draft.changes.reasons.push_back(
      fmt::format("the RayJob has finished: suspending the workers of RayCluster {}", name));
  // A merge patch replaces the list, so the cluster must be as observed.
  add_action(
      Step::kCluster,
      plan::Action::patch(raycluster::kRayClusters, live.key, {{"spec", {{"workerGroupSpecs", std::move(groups)}}}},
                          {.uid = live.uid, .resource_version = live.resource_version}),
      kFailedRayCluster,
      {"UpdatedRayCluster", "FailedToUpdateRayCluster",
       fmt::format("Set the `suspend` field to true for all worker groups in cluster {}", name),
       fmt::format("Failed to suspend worker groups in cluster {}", name)},
      draft);
}

void delete_self(const RayJobState& state, Draft& draft) {
  plan::Action action = plan::Action::remove(kRayJobs, state.spec.key, {.uid = state.spec.uid});
  action.failure_reason = kFailedDeleteSelf;
  draft.changes.add(Step::kSelf, std::move(action));
  draft.changes.reasons.emplace_back("the RayJob has finished, and its deletion rule is due: deleting it");
}

/// A job that passed a deadline, or could not be followed, may still run, on a cluster that is kept.
void stop_failed_job(const RayJobState& state, Draft& draft) {
  const RayJobStatus& status = state.status;
  if (status.deployment != kFailed || ray::is_terminal(status.job) || status.job_id.empty()) return;
  if (!status.ended || state.seen.now >= *status.ended + kStopWindow) return;
  draft.changes.requeue_within(*status.ended + kStopWindow - state.seen.now);
  if (const auto dashboard = find_dashboard(state)) {
    plan::WorkloadRequest request = ray::stop_job(*dashboard, status.job_id);
    request.interval = state.options.poll;  // A request may get no answer; stopping twice does no harm.
    draft.changes.requests.push_back(std::move(request));
  }
}

}  // namespace

CleanupDecision decide_cleanup(const RayJobSpec& spec, const RayJobStatus& status, Timestamp now) {
  CleanupDecision out;
  for (const DeletionRule& rule : rules_of(spec, status)) {
    const Timestamp due = status.ended.value_or(now) + rule.ttl;
    if (now >= due) {
      out.policy = std::max(out.policy, rule.policy);
    } else if (rule.policy != DeletionPolicy::kNone) {
      set_earlier(out.requeue_after, Duration(due - now));
    }
  }
  return out;
}

void plan_finished(const RayJobState& state, Draft& draft) {
  stop_failed_job(state, draft);
  const CleanupDecision decision = decide_cleanup(state.spec, state.status, state.seen.now);
  if (decision.requeue_after) draft.changes.requeue_within(*decision.requeue_after);
  switch (decision.policy) {
    case DeletionPolicy::kNone:
      return;
    case DeletionPolicy::kWorkers:
      return delete_workers(state, draft);
    case DeletionPolicy::kCluster:
      return delete_cluster(state, "the RayJob has finished", draft);
    case DeletionPolicy::kSelf:
      return delete_self(state, draft);
  }
}

}  // namespace tpuslice::rayjob
