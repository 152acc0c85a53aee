#include "controllers/jobset/render.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/jobset/active_deadline.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/next_status.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/changes.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::jobset {
namespace {

using plan::Action;
using plan::ActionEvents;
using plan::Changes;
using plan::EventType;
using plan::Propagation;

const plan::CounterDefinition kFinishedJobSets{
    "tpuslice_jobsets_finished_total", "JobSets that completed or failed.", "result", {kCompleted, kFailed}};
const plan::CounterDefinition kJobSetRestarts{
    "tpuslice_jobset_restarts_total",
    "JobSet and Job restarts by failure policy action.",
    "action",
    {to_string(FailureAction::kRestartJobSet), to_string(FailureAction::kRestartJobSetAndIgnoreMaxRestarts),
     to_string(FailureAction::kRestartJob), to_string(FailureAction::kRestartJobAndIgnoreMaxRestarts)}};

// Upstream's. Source: pkg/metrics of jobset; the last one from its pull request 1320.
const plan::CounterDefinition kUpstreamCompleted{
    .name = "jobset_completed_total", .help = "JobSets that completed.", .object_label = "jobset_name"};
const plan::CounterDefinition kUpstreamFailed{
    .name = "jobset_failed_total", .help = "JobSets that failed.", .object_label = "jobset_name"};
const plan::CounterDefinition kUpstreamDeadlineExceeded{.name = "jobset_active_deadline_exceeded_total",
                                                        .help = "JobSets that failed at their active deadline.",
                                                        .object_label = "jobset_name"};

/// Failed write of the status, as the executor reports it.
constexpr const char* kStatusUpdateFailed = "FailedUpdateStatus";

/// The stages of a plan.
enum class Step : std::uint8_t { kDeletes, kSuspends, kResources, kAttempt, kStartTimes, kJobs };

std::string jobs_of(const std::vector<std::string>& names) {
  return fmt::format("{} job{} ({})", names.size(), names.size() == 1 ? "" : "s", plan::join_names(names));
}

Action patch_job(const JobView& job, Json patch) {
  Action action = Action::patch(kJobs, job.key, std::move(patch), {.uid = job.uid});
  action.failure_reason = kJobUpdateFailed;
  return action;
}

Action delete_job(const JobView& job, Propagation propagation) {
  Action action = Action::remove(kJobs, job.key, {.uid = job.uid});
  action.propagation = propagation;
  action.failure_reason = kJobUpdateFailed;
  return action;
}

Action suspend_before_deletion(const JobView& job, Timestamp now) {
  return patch_job(job, {{"metadata", {{"annotations", {{kDeletionPendingSince, format_rfc3339(now)}}}}},
                         {"spec", {{"suspend", true}}}});
}

void force_deletion(const JobView& job, Changes& changes) {
  std::string text = fmt::format(
      "job {} has been terminating since {}: deleting it without waiting for its pods, which are on lost nodes or have "
      "finalizers",
      job.key.name, format_rfc3339(*job.deletion));
  changes.add(Step::kDeletes, delete_job(job, Propagation::kBackground),
              {.on_success = {{EventType::kWarning, "JobDeletionStuck", "Reconciling", text}},
               .on_failure = {{EventType::kWarning, "JobDeletionStuck", "Reconciling", text + "; that failed:"}}});
  changes.reasons.push_back(std::move(text));
}

/// They are optional: without them, the pods get their own grace period.
void render_pod_deletions(const std::vector<PodPtr>& pods, Changes& changes) {
  for (const PodPtr& pod : pods) {
    Action action = Action::remove(kPods, pod->key, {.uid = pod->uid});
    action.grace_seconds = tpu::teardown_grace(*pod);
    action.best_effort = true;
    changes.add(Step::kDeletes, std::move(action));
  }
}

void render_deletions(const JobDeletions& deletions, const char* why, Timestamp now, Changes& changes) {
  std::vector<std::string> deleted;
  std::vector<std::string> suspended;
  for (const auto& [job, progress, pods] : deletions.jobs) {
    render_pod_deletions(pods, changes);
    switch (progress) {
      case JobDeletion::Progress::kSuspend:
        changes.add(Step::kDeletes, suspend_before_deletion(*job, now));
        suspended.push_back(job->key.name);
        break;
      case JobDeletion::Progress::kDelete:
        changes.add(Step::kDeletes, delete_job(*job, Propagation::kForeground));
        deleted.push_back(job->key.name);
        break;
      case JobDeletion::Progress::kOverlap: {
        Action action = delete_job(*job, Propagation::kBackground);
        // The decision depends on the observed state of the Job.
        action.preconditions.resource_version = job->resource_version;
        changes.add(Step::kDeletes, std::move(action));
        deleted.push_back(job->key.name);
        break;
      }
      case JobDeletion::Progress::kForce:
        force_deletion(*job, changes);
        break;
      case JobDeletion::Progress::kTerminating:
        break;
    }
  }
  if (!deleted.empty()) changes.reasons.push_back(fmt::format("deleting {}: {}", jobs_of(deleted), why));
  if (!suspended.empty()) {
    changes.reasons.push_back(
        fmt::format("suspending {} without active pods before deletion: {}", jobs_of(suspended), why));
  }
  if (deletions.requeue_after) changes.requeue_within(*deletions.requeue_after);
}

void render_cleanup(const JobSetState& state, const Cleanup& cleanup, Changes& changes) {
  render_deletions(cleanup.jobs, "the JobSet is finished", state.seen.now, changes);
  if (cleanup.requeue_after) changes.requeue_within(*cleanup.requeue_after);
  if (!cleanup.delete_jobset) return;
  Action action = Action::remove(kJobSets, state.spec.key, {.uid = state.spec.uid});
  action.propagation = Propagation::kForeground;
  action.failure_reason = kJobUpdateFailed;
  changes.add(Step::kDeletes, std::move(action));
  changes.reasons.emplace_back("spec.ttlSecondsAfterFinished has passed since the JobSet finished: deleting it");
}

void render_restart(FailureAction action, const std::string& message, Changes& changes) {
  changes.event(EventType::kWarning, fmt::format("{}FailurePolicyAction", to_string(action)), message);
  changes.reasons.push_back(message);
  changes.count(kJobSetRestarts, to_string(action));
}

void render_failure(const JobSetSpec& spec, const FailureDecision& failure, Changes& changes) {
  for (const auto& restart : failure.job_restarts) render_restart(restart.action, restart.message, changes);
  if (failure.restart) render_restart(failure.restart->action, failure.restart->message, changes);
  if (!failure.failed) return;
  changes.reasons.push_back(failure.failed.message);
  changes.count(kFinishedJobSets, kFailed);
  changes.count_object(kUpstreamFailed, spec.key);
  if (failure.failed.reason == kDeadlineExceeded) changes.count_object(kUpstreamDeadlineExceeded, spec.key);
}

/// Creates an object, with a Warning event if that fails.
void create(Action action, std::string_view failure_reason, const std::string& failure, Step step, Changes& changes) {
  action.failure_reason = failure_reason;
  changes.add(step, std::move(action),
              {.on_failure = {{EventType::kWarning, std::string(failure_reason), "Reconciling", failure}}});
}

void render_service(const JobSetState& state, const plan::ChildDecision& decision, Changes& changes) {
  using Kind = plan::ChildDecision::Kind;
  if (decision.kind == Kind::kCreate) {
    Action action = Action::create(kServices, Object(build_service(state.spec)));
    const std::string failure = fmt::format("Failed to create headless service {}", action.key.to_string());
    changes.reasons.push_back(fmt::format("headless service {} is missing: creating it", action.key.name));
    create(std::move(action), kServiceCreationFailed, failure, Step::kResources, changes);
  } else if (decision.kind == Kind::kPatch) {
    const ServiceView& live = *state.seen.service;
    Action action = Action::patch(kServices, live.key, decision.patch, {.uid = live.uid});
    action.failure_reason = kServiceCreationFailed;
    changes.add(Step::kResources, std::move(action));
    changes.reasons.push_back(fmt::format("headless service {} drifted: restoring it", live.key.name));
  } else if (decision.kind == Kind::kConflict || decision.kind == Kind::kWait) {
    changes.requeue_within(plan::kConflictRetry);
  }
}

void render_claims(const JobSetSpec& spec, const std::vector<const VolumeClaim*>& claims, Changes& changes) {
  for (const VolumeClaim* claim : claims) {
    Action action = Action::create(kVolumeClaims, Object(build_claim(spec, *claim)));
    action.use_existing = true;  // One of another owner lacks our label, so that it is not observed.
    const std::string failure = fmt::format("Failed to create persistent volume claim {}", action.key.to_string());
    create(std::move(action), kClaimCreationFailed, failure, Step::kResources, changes);
    changes.reasons.push_back(fmt::format("volume claim {} is missing: creating it", claim->name));
  }
}

void render_resizes(const std::vector<JobResize>& resizes, Changes& changes) {
  for (const auto& [job, desired] : resizes) {
    changes.add(
        Step::kJobs,
        patch_job(*job, {{"spec", {{"parallelism", desired->parallelism}, {"completions", *desired->completions}}}}));
    changes.reasons.push_back(
        fmt::format("resizing job {} from {} to {} pods", job->key.name, job->parallelism, desired->parallelism));
  }
}

void render_creations(const JobSetSpec& spec, const std::vector<NewJob>& jobs,
                      const std::shared_ptr<const JobBuilder>& builder, Changes& changes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const NewJob job = jobs[i];
    const ObjectKey key{spec.key.namespace_name, job_name(spec, spec.jobs[job.replicated_job], job.index)};
    create(Action::create(kJobs, key, [=] { return builder->build(job.replicated_job, job.index); }),
           kJobCreationFailed, fmt::format("Failed to create job {}", key.name), Step::kJobs, changes);
    names.push_back(key.name);
    const bool last = i + 1 == jobs.size() || jobs[i + 1].replicated_job != job.replicated_job;
    if (last) changes.reasons.push_back("creating " + jobs_of(std::exchange(names, {})));
  }
}

/// A Job from before its JobSet counted attempts gets the annotation, so that the next resume is counted.
void render_suspension(const JobSetStatus& status, const std::vector<JobPtr>& jobs, Changes& changes) {
  std::vector<std::string> names;
  for (const JobPtr& job : jobs) {
    Json patch = {{"spec", {{"suspend", true}}}};
    if (status.execution_attempts && job->annotation(kExecutionAttempt).empty()) {
      patch["metadata"]["annotations"] = {{kExecutionAttempt, std::to_string(*status.execution_attempts)}};
    }
    changes.add(Step::kSuspends, patch_job(*job, std::move(patch)));
    names.push_back(job->key.name);
  }
  if (!names.empty()) changes.reasons.push_back("suspending " + jobs_of(names));
}

/// A pod may have the number as soon as a Job is resumed, so it is written before.
void render_attempt(const JobSetState& state, Changes& changes) {
  if (!state.attempts.resumed) return;
  Action action =
      Action::patch(kJobSets, state.spec.key, {{"status", {{"executionAttempts", *state.attempts.current}}}},
                    {.uid = state.spec.uid, .resource_version = state.seen.jobset.resource_version()});
  action.subresource = "status";
  action.failure_reason = kStatusUpdateFailed;
  changes.add(Step::kAttempt, std::move(action));
}

void render_resumed_job(const JobResume& resume, Changes& changes) {
  const auto& [job, template_patch, annotations, resources] = resume;
  Json patch = {{"spec", {{"suspend", false}}}};
  if (!annotations.is_null()) patch["metadata"]["annotations"] = annotations;
  if (!template_patch.is_null()) patch["spec"]["template"] = template_patch;
  ActionEvents reported;
  if (!resources.is_null()) {
    for (const auto& [list, containers] : resources.items()) patch["spec"]["template"]["spec"][list] = containers;
    reported.on_failure = {{EventType::kWarning, "FailedResourcePropagation", "Reconciling",
                            fmt::format("Failed to propagate mutated resources to child Job {}, which the API server "
                                        "allows with MutablePodResourcesForSuspendedJobs:",
                                        job->key.name)}};
  }
  // The template of a suspended Job is immutable until its start time is cleared.
  if (patch["spec"].contains("template") && job->started) {
    Action action = patch_job(*job, {{"status", {{"startTime", nullptr}}}});
    action.subresource = "status";
    changes.add(Step::kStartTimes, std::move(action));
  }
  Action action = patch_job(*job, std::move(patch));
  action.strategic = !resources.is_null();  // Containers are merged by name.
  changes.add(Step::kJobs, std::move(action), std::move(reported));
}

void render_resume(const ResumeDecision& decision, Changes& changes) {
  for (const JobPtr& job : decision.recreate) {
    changes.add(Step::kDeletes, delete_job(*job, Propagation::kForeground));
    changes.reasons.push_back(fmt::format(
        "job {} was created for another accelerator, topology, number of chips or gang: deleting it", job->key.name));
  }
  std::vector<std::string> names;
  for (const JobResume& resume : decision.resume) {
    render_resumed_job(resume, changes);
    names.push_back(resume.job->key.name);
  }
  if (!names.empty()) changes.reasons.push_back("resuming " + jobs_of(names));
}

}  // namespace

constinit const std::array<const plan::CounterDefinition*, 5> kCounters = {
    &kFinishedJobSets, &kJobSetRestarts, &kUpstreamCompleted, &kUpstreamFailed, &kUpstreamDeadlineExceeded};

plan::Plan render(const JobSetState& state, const Decisions& decisions,
                  const std::shared_ptr<const JobBuilder>& builder) {
  Changes changes;
  // A failed action holds back later stages, but not the other actions of its stage.
  changes.stage(Step::kDeletes).independent = true;
  changes.stage(Step::kSuspends).independent = true;
  render_deletions(decisions.previous, "they belong to a previous attempt", state.seen.now, changes);
  if (decisions.cleanup) render_cleanup(state, *decisions.cleanup, changes);
  if (decisions.completed) {
    changes.reasons.emplace_back("jobset completed successfully");
    changes.count(kFinishedJobSets, kCompleted);
    changes.count_object(kUpstreamCompleted, state.spec.key);
  }
  if (const auto& running = decisions.running; running) {
    if (const auto until = active_until(state)) changes.requeue_within(*until - state.seen.now);
    render_service(state, decisions.service, changes);
    render_claims(state.spec, running->create_claims, changes);
    render_suspension(state.status, running->suspend, changes);
    render_attempt(state, changes);
    render_resizes(running->resize, changes);
    // Resumes precede the creates of their stage: a failed create, such as at a quota, does not hold back resumed Jobs.
    render_resume(running->resume, changes);
    render_creations(state.spec, running->create, builder, changes);
  }
  // As in upstream, events of changed conditions precede those of failure policy actions.
  const JobSetStatus status = next_status(state, decisions, changes);
  if (decisions.failure) render_failure(state.spec, *decisions.failure, changes);
  const Json before = plan::status_of(state.seen.jobset);
  plan::Plan plan = plan::to_plan(std::move(changes), before, status.to_json(before, state.spec));
  plan::mark_counts(plan, before, {"ready", "succeeded", "failed", "active", "suspended"});
  return plan;
}

plan::Plan render_expiry(const JobSetState& state, const Cleanup& expiry) {
  Changes changes;
  render_cleanup(state, expiry, changes);
  const Json status = plan::status_of(state.seen.jobset);
  return plan::to_plan(std::move(changes), status, status);
}

plan::Plan render_refusal(const JobSetState& state, const Problem& refusal, const std::vector<JobPtr>& suspend) {
  Changes changes;
  changes.reasons.push_back("the spec is refused: " + refusal.message);
  changes.stage(Step::kSuspends).independent = true;
  render_suspension(state.status, suspend, changes);
  const JobSetStatus status = refused_status(state, refusal, changes);
  const Json before = plan::status_of(state.seen.jobset);
  return plan::to_plan(std::move(changes), before, status.to_json(before, state.spec));
}

}  // namespace tpuslice::jobset
