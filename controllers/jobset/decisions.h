// Decisions: what a plan for a JobSet does and reports, before it is rendered.
#pragma once

#include <optional>
#include <vector>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/cleanup.h"
#include "controllers/jobset/failure_policy.h"
#include "controllers/jobset/job_deletion.h"
#include "controllers/jobset/jobset_state.h"
#include "controllers/jobset/startup_policy.h"
#include "controllers/jobset/suspension.h"
#include "controllers/plan/service.h"

namespace tpuslice::jobset {

/// What an unfinished JobSet does without failure or success.
struct RunningDecisions {
  StartupDecision startup;
  std::vector<const VolumeClaim*> create_claims;
  std::vector<JobResize> resize;
  std::vector<NewJob> create;
  bool blocked = false;  ///< BlockingRecreate: nothing is created while Jobs of the previous attempt exist.
  std::vector<JobPtr> suspend;
  ResumeDecision resume;
};

struct Decisions {
  JobDeletions previous;  ///< Jobs of previous attempts.
  plan::ChildDecision service;
  // At most one of these:
  std::optional<Cleanup> cleanup;
  std::optional<FailureDecision> failure;
  bool completed = false;
  std::optional<RunningDecisions> running;

  /// The JobSet is Completed or Failed once these decisions are applied.
  [[nodiscard]] bool finishes() const { return cleanup || completed || (failure && failure->failed); }
};

/// Jobs of previous attempts are deleted. A finished JobSet is cleaned up. Otherwise the first that applies: failure if
/// the active deadline has passed before the JobSet succeeded; the failure policy if Jobs failed; the success policy if
/// it is met; creating, suspending, resuming and resizing children.
///
/// Errors: JobBuilder::build()'s.
[[nodiscard]] Result<Decisions> decide(const JobSetState& state, const JobBuilder& builder, const Options& options);

/// What a refused spec still asks for: the Jobs to suspend. Suspension needs nothing that a spec may be refused for.
[[nodiscard]] std::vector<JobPtr> decide_refused(const JobSetState& state);

}  // namespace tpuslice::jobset
