// The leader set: the StatefulSet of a LeaderWorkerSet's name, whose pods are the leaders, one to a group.
#pragma once

#include <string>

#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

/// What a rollout decides about a leader set.
struct LeaderSetState {
  std::string revision_key;  ///< Of the revision that the template is made from.
  int replicas = 1;          ///< Groups, the surge included.
  int partition = 0;         ///< Leaders below it keep their revision.
};

/// The leader set as it should be; what it asks of a group is `spec.group`. To the byte upstream's, but for
/// tpu::kSliceLeader and tpu::kSliceStart where they are needed (placement.h), and kubectl's annotation.
///
/// The update strategy's maxUnavailable is upstream's too. It has an effect only where the API server knows the field;
/// the rollout does not lean on it.
[[nodiscard]] Json build_leader_set(const LeaderWorkerSetSpec& spec, const LeaderSetState& state);

}  // namespace tpuslice::leaderworkerset
