#include "controllers/raycluster/raycluster_plan.h"

#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/decisions.h"
#include "controllers/raycluster/redis_cleanup.h"
#include "controllers/raycluster/render.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/validator.h"
#include "controllers/raycluster/scale_down.h"
#include "controllers/raycluster/token_auth.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::raycluster {
namespace {

std::optional<Duration> until_worker_retry(const RayClusterObserved& seen) {
  return plan::until_retry(seen.last_failure, kFailedCreateWorkerPod, seen.now);
}

MayCreate workers_to_create(const RayClusterObserved& seen, bool may_create) {
  if (!may_create) return MayCreate::kNothing;
  return until_worker_retry(seen) ? MayCreate::kMissing : MayCreate::kNextAttempts;
}

Decisions decide(const RayClusterSpec& spec, const RayClusterObserved& seen, const PodsByType& pods,
                 const Options& options) {
  Decisions out;
  out.phase = suspend_phase(spec, array_at(seen.cluster.json(), {"status", "conditions"}), !seen.pods.empty());
  out.children = decide_children(spec, desired_children(spec), seen);
  out.services = decide_services(spec, seen, options);
  out.add_finalizer = needs_cleanup_finalizer(spec, seen.cluster, options);
  out.adopted_pods = pods_to_adopt(seen.pods);
  if (!out.adopted_pods.empty()) return out;
  if (out.phase == SuspendPhase::kRunning) {
    out.upgrade = decide_upgrade(spec, pods);
    if (out.upgrade.recreating) return out;
    // Pods would connect to a service of another owner, or run without what they need.
    const bool may_create = pods_can_connect(out.services) && are_usable(out.children);
    if (!keeps_lost_head(spec, seen.cluster)) out.head = decide_head(spec, pods.heads, may_create, options);
    out.auth_secret = create_auth_secret(spec, out.head, pods.heads);
    out.workers = decide_workers(spec, pods.workers, workers_to_create(seen, may_create), options);
    if (out.workers.waits_for_deletion) out.retry_after = until_worker_retry(seen);
  }
  if (out.phase == SuspendPhase::kDeletingPods) out.suspended_pods = not_terminating(seen.pods);
  return out;
}

/// What a refused spec still asks for: suspension and scaling down need none of what it may be refused for.
Decisions decide_refused(const RayClusterSpec& spec, const RayClusterObserved& seen, const PodsByType& pods) {
  Decisions out;
  out.phase = suspend_phase(spec, array_at(seen.cluster.json(), {"status", "conditions"}), !seen.pods.empty());
  if (!pods_to_adopt(seen.pods).empty()) return out;  // Pods without an owner are not ours to delete.
  if (out.phase == SuspendPhase::kDeletingPods) out.suspended_pods = not_terminating(seen.pods);
  if (out.phase == SuspendPhase::kRunning) out.workers = decide_scale_down(spec, pods.workers);
  return out;
}

}  // namespace

Result<plan::Plan> plan_raycluster(const RayClusterObserved& seen, const Options& options) {
  const RayClusterSpec& spec = seen.cluster.spec();
  if (seen.cluster.deletion_timestamp()) return plan_deletion(spec, seen, options);
  if (spec.managed_by_other()) return plan::Plan{};
  const PodsByType pods = by_type(seen.pods);
  if (const Problem refusal =
          rules::refusal(rules::validate_stored_raycluster(seen.cluster), rules::unsupported_fields(spec))) {
    return render_refusal(spec, seen, refusal, decide_refused(spec, seen, pods));
  }
  return render(spec, seen, pods, decide(spec, seen, pods, options));
}

}  // namespace tpuslice::raycluster
