// Startup order: which replicated jobs may start, by startupPolicy and dependsOn.
#pragma once

#include <cstdint>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

struct StartupDecision {
  enum class Order : std::uint8_t {
    kAny,
    kInProgress,  ///< InOrder: a replicated job is not ready yet.
    kComplete,    ///< InOrder: all replicated jobs are ready.
  };
  Order order = Order::kAny;
  std::vector<const ReplicatedJob*> may_start;  ///< Their Jobs are created if missing, and resumed.
  std::vector<Problem> waits;                   ///< Which replicated jobs wait for which.
};

/// The Jobs of a suspended JobSet are created suspended, in any order that dependsOn allows.
[[nodiscard]] StartupDecision decide_startup(const JobSetSpec& spec, const JobCounts& counts);

}  // namespace tpuslice::jobset
