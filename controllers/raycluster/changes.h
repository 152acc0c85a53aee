// Changes: what one part of a RayCluster (the head, a worker group, the services) adds to its plan.
#pragma once

#include <string>
#include <vector>

#include "controllers/runtime/plan.h"

namespace tpuslice::raycluster {

struct Changes {
  std::vector<runtime::Action> deletes;
  std::vector<runtime::Action> services;  ///< Creates and patches.
  std::vector<runtime::Action> creates;   ///< Of pods.
  std::vector<runtime::EventIntent> events;
  std::vector<std::string> reasons;  ///< One sentence each.
  std::vector<std::string> refused;  ///< What cannot be done until the spec changes, and why.

  void append(Changes more);
};

/// "a, b, c"; beyond `limit` elements "a, b and 7 more".
[[nodiscard]] std::string join_names(const std::vector<std::string>& names, std::size_t limit = 8);

}  // namespace tpuslice::raycluster
