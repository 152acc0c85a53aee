#include "controllers/raycluster/decisions.h"

#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/pods/token_auth.h"
#include "controllers/raycluster/redis_cleanup/redis_cleanup.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/workers/worker_groups.h"

namespace tpuslice::raycluster {
namespace {

std::optional<Duration> until_worker_retry(const RayClusterObserved& seen) {
  return plan::until_retry(seen.last_failure, kFailedCreateWorkerPod, seen.now);
}

MayCreate workers_to_create(const RayClusterObserved& seen, bool may_create) {
  if (!may_create) return MayCreate::kNothing;
  return until_worker_retry(seen) ? MayCreate::kMissing : MayCreate::kNextAttempts;
}

void decide_pods(const RayClusterState& state, const Options& options, Decisions& out) {
  const auto& [seen, spec, pods, phase] = state;
  out.upgrade = decide_upgrade(spec, pods);
  if (out.upgrade.recreating) return;
  // Pods would connect to a service of another owner, or run without what they need.
  const bool may_create = pods_can_connect(out.services) && are_usable(out.children);
  const bool keeps_lost = keeps_lost_head(spec, seen.cluster);
  if (!keeps_lost) out.head = decide_head(spec, pods.heads, may_create, options);
  out.create_auth_secret = needs_auth_secret(spec, out.head, pods.heads);
  // Workers would wait for a head that is not created again.
  const bool may_create_workers = may_create && !(keeps_lost && lacks_live_head(spec, pods.heads));
  out.workers = decide_workers(spec, pods.workers, workers_to_create(seen, may_create_workers), options);
  if (out.workers.waits_for_deletion) out.retry_after = until_worker_retry(seen);
}

}  // namespace

Decisions decide(const RayClusterState& state, const Options& options) {
  const auto& [seen, spec, pods, phase] = state;
  Decisions out;
  out.children = decide_children(spec, desired_children(spec), seen);
  out.services = decide_services(spec, seen, options);
  out.add_finalizer = needs_cleanup_finalizer(spec, seen.cluster, options);
  out.adopted_pods = pods_to_adopt(seen.pods);
  if (!out.adopted_pods.empty()) return out;
  if (phase == SuspendPhase::kRunning) decide_pods(state, options, out);
  if (phase == SuspendPhase::kDeletingPods) out.suspended_pods = not_terminating(seen.pods);
  return out;
}

Decisions decide_refused(const RayClusterState& state) {
  Decisions out;
  if (!pods_to_adopt(state.seen.pods).empty()) return out;  // Pods without an owner are not ours to delete.
  if (state.phase == SuspendPhase::kDeletingPods) out.suspended_pods = not_terminating(state.seen.pods);
  if (state.phase == SuspendPhase::kRunning) out.workers = decide_scale_down(state.spec, state.pods.workers);
  return out;
}

}  // namespace tpuslice::raycluster
