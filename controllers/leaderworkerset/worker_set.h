// The worker set: the StatefulSet `<set>-<group>` of a group's workers. It belongs to the leader pod and goes with it.
#pragma once

#include <string>

#include "api/types/views.h"
#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

/// A leader pod, as its worker set refers to it.
struct Leader {
  std::string name;
  std::string uid;
  int group = 0;
  std::string group_key;     ///< Label tpu::kLwsGroupKey of all pods of the group.
  std::string revision_key;  ///< Of the revision that the group is made from.
  bool has_tpus = false;

  /// `group` is of the revision that the pod names. Labels that admission has not given are made up for.
  static Leader read(const LeaderWorkerSetSpec& spec, const PodView& pod, int group_index, const GroupTemplate& group);
};

/// A node label that all workers of a group select; nothing where its name is empty.
struct Domain {
  std::string key;
  std::string value;
};

/// The worker set of `leader` as it should be, made of `group`, the leader's revision. `domain`: where the leader
/// decides on it (placement.h), that of its node. To the byte upstream's. Not to be called for groups of one.
[[nodiscard]] Json build_worker_set(const LeaderWorkerSetSpec& spec, const GroupTemplate& group, const Leader& leader,
                                    const Domain& domain = {});

/// The label tpu::kLwsGroupKey: SHA-1 of "<namespace>/<leader>".
[[nodiscard]] std::string group_key(const LeaderWorkerSetSpec& spec, int group);

}  // namespace tpuslice::leaderworkerset
