#include "controllers/leaderworkerset/rollout/problems.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Admission refuses the change, unless the webhook was away or another manager admitted it.
Problem changed_claims(const LeaderWorkerSetState& state) {
  return {std::string(kVolumeClaimsChanged),
          fmt::format("spec.leaderWorkerTemplate.volumeClaimTemplates differs from that of revision {}, and that of "
                      "StatefulSet {} is immutable, so the change is not rolled out: restore the field, or create "
                      "another LeaderWorkerSet",
                      state.history.desired, state.leader_set->key.name)};
}

/// Ready groups that next_step() keeps although they are to be deleted, since too few of the others are ready. Those
/// within the surge are not reported: at the end of a rollout that is usual.
Problem kept_groups(const LeaderWorkerSetSpec& spec, int kept) {
  const int wanted = spec.replicas;
  if (kept <= wanted + std::min(spec.rollout.max_surge, wanted)) return {};
  return {
      "ScaleDownWaits",
      fmt::format("spec.replicas is {}, but groups up to {} are kept: fewer than {} of groups 0 to {} are ready, the "
                  "replicas without maxUnavailable; make these ready, or raise maxUnavailable",
                  wanted, kept - 1, wanted - std::min(spec.rollout.max_unavailable, wanted), wanted - 1)};
}

}  // namespace

std::vector<Problem> rollout_problems(const LeaderWorkerSetState& state, const RolloutStep& step) {
  std::vector<Problem> out;
  if (state.history.claims_changed) out.push_back(changed_claims(state));
  if (Problem kept = kept_groups(state.spec, step.replicas)) out.push_back(std::move(kept));
  return out;
}

}  // namespace tpuslice::leaderworkerset
