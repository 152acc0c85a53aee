#include "controllers/rayservice/retirement.h"

#include "controllers/plan/plan.h"
#include "controllers/rayservice/gateway_decisions.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {

RetirementDecision decide_retirement(const RayServiceState& state, std::string_view active, std::string_view pending) {
  RetirementDecision out;
  const Timestamp now = state.seen.now;
  for (const Cluster& cluster : state.clusters.all()) {
    if (cluster.terminating()) continue;
    const std::string recorded = cluster.annotation(kDeleteAfter);
    if (cluster.name() == active || cluster.name() == pending) {
      if (!recorded.empty()) out.cancelled.push_back(&cluster);
      continue;
    }
    // A pending cluster that another one replaces has not served.
    const bool served = cluster.name() != state.pending_name();
    const std::optional<Timestamp> time = parse_rfc3339(recorded);
    const Timestamp due = time.value_or(served ? now + state.spec.deletion_delay : now);
    if (is_routed_to(state, cluster)) continue;
    if (due <= now) {
      out.deletes.push_back(&cluster);
      continue;
    }
    if (!time) out.schedules.push_back({&cluster, format_rfc3339(due)});
    plan::requeue_within(out.requeue_after, due - now);
  }
  return out;
}

}  // namespace tpuslice::rayservice
