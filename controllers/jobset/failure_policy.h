// The failure policy: whether a JobSet fails or restarts when Jobs fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

struct FailureDecision {
  /// A restart of a single Job.
  struct JobRestart {
    const ReplicatedJob* replicated_job = nullptr;
    int index = 0;
    FailureAction action = FailureAction::kRestartJob;
    std::string message;
  };
  /// A restart of the JobSet.
  struct Restart {
    FailureAction action = FailureAction::kRestartJobSet;
    std::string reason;
    std::string message;
  };

  std::vector<JobRestart> job_restarts;
  std::optional<Restart> restart;
  Problem failed;  ///< Why the JobSet fails; no problem if it restarts.
};

/// Applies the policy to all of `failed`, at least one: the first rule that matches any of them acts on the matching
/// Job that failed first. If it restarts only that Job, the policy is applied to the rest, until none is left or the
/// whole JobSet restarts or fails. The next plan finds the Jobs to delete by their attempt.
[[nodiscard]] FailureDecision apply_failure_policy(const JobSetSpec& spec, const JobSetStatus& status,
                                                   const std::vector<JobPtr>& failed);

/// The name of the action in the API: "RestartJobSet".
[[nodiscard]] std::string_view to_string(FailureAction action);
/// Whether a restart by this action counts towards maxRestarts.
[[nodiscard]] bool counts_towards_max(FailureAction action);

}  // namespace tpuslice::jobset
