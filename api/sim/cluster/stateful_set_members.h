// StatefulSetMembers: which pods and revisions a StatefulSet has, adopted ones among them.
#pragma once

#include <vector>

#include "api/sim/registry.h"

namespace tpuslice::sim {

inline constexpr const char* kStatefulSets = "statefulsets.apps";
inline constexpr const char* kControllerRevisions = "controllerrevisions.apps";

struct StatefulSetMembers {
  std::vector<JsonPtr> pods;
  std::vector<JsonPtr> revisions;
  bool wrote = false;
  bool refused = false;  ///< The API server refused to have one adopted or released: nothing else is to be done now.
};

/// Of `pods` and `revisions`, which are those that the set controls and those of its namespace that nothing does:
/// adopts what its selector matches, pods by their names besides, and lets go of the pods of its own that it does not.
/// A set that is being deleted does neither.
[[nodiscard]] StatefulSetMembers find_members(Registry& registry, const Json& set, const std::vector<JsonPtr>& pods,
                                              const std::vector<JsonPtr>& revisions);

}  // namespace tpuslice::sim
