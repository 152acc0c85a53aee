// The worker set: the StatefulSet `<set>-<group>` of a group's workers, owned by the leader pod.
#pragma once

#include <string>

#include "api/types/views.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

/// Fields of a leader pod that its worker set and service need.
struct Leader {
  std::string name;
  std::string uid;
  int group = 0;
  std::string group_key;     ///< Label kLwsGroupKey.
  std::string revision_key;  ///< Label kRevisionKey.
  bool has_tpus = false;

  /// `group`: template of the pod's revision. The group key is computed if admission has not set it.
  static Leader read(const LeaderWorkerSetSpec& spec, const PodView& pod, int group_index, const GroupTemplate& group);
};

/// Node label that all workers of a group select; none if the key is empty.
struct Domain {
  std::string key;
  std::string value;
};

/// Owner reference of the children of a leader pod.
[[nodiscard]] ControllerRef leader_reference(const std::string& name, const std::string& uid);

/// The desired worker set of `leader`. `group`: template of the leader's revision. `domain`: of the leader's node if
/// the workers follow it (placement.h). Byte-equal to upstream's, except for tpu::kWorkloadUid. Only for groups with
/// workers.
[[nodiscard]] Json build_worker_set(const LeaderWorkerSetSpec& spec, const GroupTemplate& group, const Leader& leader,
                                    const Domain& domain = {});

/// Label kLwsGroupKey: SHA-1 of "<namespace>/<leader>".
[[nodiscard]] std::string group_key(const LeaderWorkerSetSpec& spec, int group);

}  // namespace tpuslice::leaderworkerset
