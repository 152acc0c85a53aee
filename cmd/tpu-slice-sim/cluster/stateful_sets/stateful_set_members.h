// StatefulSetMembers: the pods and revisions of a StatefulSet; adoption and release.
#pragma once

#include <vector>

#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

inline constexpr const char* kStatefulSets = "statefulsets.apps";
inline constexpr const char* kControllerRevisions = "controllerrevisions.apps";

struct StatefulSetMembers {
  std::vector<JsonPtr> pods;
  std::vector<JsonPtr> revisions;
  bool wrote = false;
  bool failed = false;  ///< An adoption or release failed: stop the sync.
};

/// `pods` and `revisions`: those that the set controls, and those in its namespace without a controller owner.
/// Adopts those that the selector (and for pods the name) matches, and releases controlled pods that it does not.
/// A terminating set does neither.
[[nodiscard]] StatefulSetMembers find_members(Registry& registry, const Json& set, const std::vector<JsonPtr>& pods,
                                              const std::vector<JsonPtr>& revisions);

}  // namespace tpuslice::sim
