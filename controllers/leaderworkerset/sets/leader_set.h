// The leader set: the StatefulSet `<set>` whose pods are the leaders, one per group.
#pragma once

#include <string>

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

/// Fields of a leader set that a rollout changes.
struct LeaderSetState {
  std::string revision_key;  ///< Revision of the pod template.
  int replicas = 1;          ///< Groups, including the surge.
  int partition = 0;         ///< Leaders below it keep their revision.
};

/// The desired leader set. Byte-equal to upstream's, except for tpu::kSliceLeader, tpu::kSliceStart (placement.h) and
/// tpu::kWorkloadUid, and without kubectl's last-applied annotation.
///
/// updateStrategy.rollingUpdate.maxUnavailable is as upstream; the rollout does not depend on it, because API servers
/// drop it unless a feature gate is on.
[[nodiscard]] Json build_leader_set(const LeaderWorkerSetSpec& spec, const LeaderSetState& state);

}  // namespace tpuslice::leaderworkerset
