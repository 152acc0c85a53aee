// Startup: which replicated jobs may start now, by startupPolicy and dependsOn.
#pragma once

#include <vector>

#include "controllers/jobset/changes.h"

namespace tpuslice::jobset {

struct Startup {
  std::vector<const ReplicatedJob*> may_start;  ///< Their Jobs are created where they are missing, and resumed.
  bool in_progress = false;                     ///< InOrder: one of them has to be ready before the next may start.
};

/// Says in `changes` which replicated jobs wait, and for whom. A suspended JobSet has its Jobs, suspended, in any order
/// that dependsOn allows.
[[nodiscard]] Startup plan_startup(Changes& changes);

}  // namespace tpuslice::jobset
