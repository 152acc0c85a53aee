// Startup order: which replicated jobs may start, by startupPolicy and dependsOn, and which Jobs are created for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/job_builder.h"
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

struct NewJob {
  std::size_t replicated_job = 0;  ///< Its position in the spec.
  int index = 0;
};

/// The missing Jobs of the replicated jobs that may start.
///
/// Errors: JobBuilder::build()'s.
[[nodiscard]] Result<std::vector<NewJob>> missing_jobs(const JobSetSpec& spec, const ChildJobs& children,
                                                       const StartupDecision& startup, const JobBuilder& builder);

}  // namespace tpuslice::jobset
