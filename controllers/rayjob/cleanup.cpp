#include "controllers/rayjob/cleanup.h"

#include <algorithm>

#include "api/base/earlier.h"
#include "controllers/ray/dashboard.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

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

std::optional<Timestamp> stop_until(const RayJobStatus& status) {
  const bool may_run = status.deployment == kFailed && !ray::is_terminal(status.job) && !status.job_id.empty();
  return may_run && status.ended ? std::optional(*status.ended + kStopWindow) : std::nullopt;
}

Json suspended_workers(const RayJobState& state) {
  if (!state.owns_cluster() || state.seen.cluster->deletion) return {};
  const Object cluster = state.seen.cluster->object();
  const Json& before = array_at(cluster.json(), {"spec", "workerGroupSpecs"});
  Json groups = before;
  for (Json& group : groups) {
    if (group.is_object()) group["suspend"] = true;
  }
  return groups == before ? Json() : groups;
}

}  // namespace tpuslice::rayjob
