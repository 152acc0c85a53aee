#include "controllers/jobset/next_status.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/active_deadline.h"
#include "controllers/jobset/cleanup.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/refused_pods.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::jobset {
namespace {

using plan::EventType;
using Order = StartupDecision::Order;
using ServiceKind = plan::ChildDecision::Kind;

constexpr std::array kActionFailures{kJobCreationFailed, kJobUpdateFailed, kServiceCreationFailed,
                                     kClaimCreationFailed};
constexpr const char* kCompletedMessage = "jobset completed successfully";
constexpr const char* kSuspendedMessage = "jobset is suspended";

/// Upstream's conditions. A change of status, reason or message causes an event.
class UpstreamConditions {
 public:
  UpstreamConditions(const JobSetState& state, Json& conditions, plan::Changes& changes)
      : generation_(state.spec.generation), now_(state.seen.now), conditions_(conditions), changes_(changes) {}

  void set_true(std::string_view type, const std::string& reason, const std::string& message,
                EventType event = EventType::kNormal) {
    set(type, "True", reason, message, event);
  }
  /// A condition that is absent stays absent.
  void set_false(std::string_view type, const std::string& reason, const std::string& message) {
    if (find_condition(conditions_, type) != nullptr) set(type, "False", reason, message, EventType::kNormal);
  }
  /// Keeps reason and message, without an event.
  void end(std::string_view type) {
    if (find_condition(conditions_, type) == nullptr) return;
    const Json before = *find_condition(conditions_, type);
    set_condition(
        conditions_,
        {std::string(type), "False", string_at(before, {"reason"}), string_at(before, {"message"}), generation_}, now_);
  }

 private:
  void set(std::string_view type, const char* status, const std::string& reason, const std::string& message,
           EventType event) {
    const Json* before = find_condition(conditions_, type);
    const bool changed = before == nullptr || string_at(*before, {"status"}) != status ||
                         string_at(*before, {"reason"}) != reason || string_at(*before, {"message"}) != message;
    set_condition(conditions_, {std::string(type), status, reason, message, generation_}, now_);
    if (changed) changes_.event(event, reason, message);
  }

  const std::int64_t generation_;
  const Timestamp now_;
  Json& conditions_;
  plan::Changes& changes_;
};

void apply_failure(const FailureDecision& failure, JobSetStatus& status, UpstreamConditions& conditions) {
  for (const auto& restart : failure.job_restarts) {
    status.count_restart(restart.replicated_job->name, restart.index,
                         static_cast<int>(restart.replicated_job->replicas), counts_towards_max(restart.action));
  }
  if (failure.restart) {
    add_one(status.restarts);
    status.execution_attempts = attempt_after_restart(status.execution_attempts, status.restarts);
    if (counts_towards_max(failure.restart->action)) add_one(status.counted_restarts);
    conditions.set_true(kRestarting, failure.restart->reason, failure.restart->message, EventType::kWarning);
  }
  if (failure.failed) {
    conditions.set_true(kFailed, failure.failed.reason, failure.failed.message, EventType::kWarning);
    conditions.set_false(kRestarting, "JobSetFailed", "jobset failed");
    status.terminal_state = kFailed;
  }
}

void set_startup(Order order, UpstreamConditions& conditions) {
  if (order == Order::kInProgress) {
    conditions.end(kStartupCompleted);
    conditions.set_true(kStartupInProgress, "InOrderStartupPolicyInProgress", "in order startup policy is in progress");
  } else if (order == Order::kComplete) {
    conditions.end(kStartupInProgress);
    conditions.set_true(kStartupCompleted, "InOrderStartupPolicyCompleted", "in order startup policy has completed");
  }
}

void set_suspended(UpstreamConditions& conditions) {
  conditions.set_true(kSuspended, "SuspendedJobs", kSuspendedMessage);
  conditions.set_false(kRestarting, "JobSetSuspended", kSuspendedMessage);
}

/// Jobs are to be suspended or resumed, and the API server refused that or another change of Jobs.
bool suspension_refused(const JobSetState& state, const RunningDecisions& running) {
  const auto& failure = state.seen.last_failure;
  return failure && failure->reason == kJobUpdateFailed && (!running.suspend.empty() || !running.resume.resume.empty());
}

void set_upstream_conditions(const JobSetState& state, const Decisions& decisions, JobSetStatus& status,
                             plan::Changes& changes) {
  if (decisions.cleanup) return restore_finish_time(status.conditions, state.seen.now);
  UpstreamConditions conditions(state, status.conditions, changes);
  const bool suspended = state.spec.suspended;
  if (!suspended && all_ready(state.spec, state.counts)) {
    conditions.set_false(kRestarting, "JobsReady", "all jobs are ready");
  }
  if (decisions.failure) apply_failure(*decisions.failure, status, conditions);
  if (decisions.completed) {
    conditions.set_true(kCompleted, "AllJobsCompleted", kCompletedMessage);
    conditions.set_false(kRestarting, "JobSetCompleted", kCompletedMessage);
    status.terminal_state = kCompleted;
  }
  if (!decisions.running) return;
  status.execution_attempts = state.attempts.current;
  const Order order = decisions.running->startup.order;
  set_startup(order, conditions);
  if (suspension_refused(state, *decisions.running)) return;
  if (suspended) {
    set_suspended(conditions);
  } else if (order != Order::kInProgress) {
    conditions.set_false(kSuspended, "ResumeJobs", "jobset is resumed");
  }
}

/// Reports slow deletions only, since each change of the message is a status write.
Problem slow_deletions(const Decisions& decisions) {
  std::vector<std::string> names;
  for (const JobDeletions* deletions : {&decisions.previous, decisions.cleanup ? &decisions.cleanup->jobs : nullptr}) {
    if (deletions == nullptr) continue;
    for (const JobDeletion& each : deletions->jobs) {
      if (each.progress == JobDeletion::Progress::kTerminating || each.progress == JobDeletion::Progress::kForce)
        names.push_back(each.job->key.name);
    }
  }
  if (names.empty()) return {};
  return {"Deletion", fmt::format("{} job{} still being deleted: {}", names.size(), names.size() == 1 ? " is" : "s are",
                                  plan::join_names(names))};
}

/// Every replica has a Job of the current attempt that the Job controller has started.
bool all_started(const JobSetState& state) {
  const auto started = std::ranges::count_if(
      state.children.active, [](const JobPtr& job) { return job->started && !job->suspended && !job->deletion; });
  const auto finished = state.children.succeeded.size() + state.children.failed.size();
  return started + static_cast<std::int64_t>(finished) >= state.spec.total_replicas();
}

/// Does not report a failed status write, since the report would be another status write.
Problem jobs_problem(const JobSetState& state, const Decisions& decisions) {
  std::vector<Problem> waits;
  if (const auto& failure = state.seen.last_failure;
      failure && std::ranges::find(kActionFailures, failure->reason) != kActionFailures.end()) {
    waits.push_back({failure->reason, failure->message});
  }
  if (Problem slow = slow_deletions(decisions); slow) waits.push_back(std::move(slow));
  if (const auto& running = decisions.running; running) {
    waits.insert(waits.end(), running->startup.waits.begin(), running->startup.waits.end());
    if (running->blocked) waits.push_back({"BlockingRecreate", "jobs of the previous attempt still exist"});
  }
  if (!waits.empty()) {
    std::string message;
    for (const Problem& wait : waits) message += (message.empty() ? "" : "; ") + wait.message;
    return {waits.front().reason, std::move(message)};
  }
  if (state.spec.suspended) return {"Suspended", "the JobSet is suspended; jobs start when spec.suspend is false"};
  if (!all_started(state)) return {"JobsPending", "jobs are being created or started"};
  return {};
}

Problem service_problem(const JobSetState& state, const plan::ChildDecision& decision) {
  const std::string& name = state.spec.subdomain;
  if (const auto& failure = state.seen.last_failure;
      failure && failure->reason == kServiceCreationFailed && decision.kind != ServiceKind::kNone) {
    return {failure->reason, failure->message};
  }
  switch (decision.kind) {
    case ServiceKind::kNone:
      return {};
    case ServiceKind::kCreate:
      return {"ServicePending", fmt::format("headless service {} does not exist yet", name)};
    case ServiceKind::kPatch:
      return {"ServiceDrifted", fmt::format("headless service {} was changed and is being restored", name)};
    case ServiceKind::kWait:
      return {"ServiceTerminating",
              fmt::format("headless service {} is being deleted and will be created again", name)};
    case ServiceKind::kConflict:
      return {"ServiceConflict",
              decision.conflict + "; set spec.network.subdomain to another name, or delete the service"};
  }
  return {};
}

void set_own_conditions(const JobSetState& state, const Decisions& decisions, Json& conditions,
                        plan::Changes& changes) {
  const std::int64_t generation = state.spec.generation;
  const Timestamp now = state.seen.now;
  plan::set_accepted(conditions, {}, generation, now);
  if (decisions.finishes()) {
    for (const std::string_view type : {kJobsStarted, kServiceReady}) {
      plan::set_inactive_condition(conditions, type, {"Finished", "the JobSet is finished"}, generation, now);
    }
    return;
  }
  plan::set_own_condition(conditions, kJobsStarted, jobs_problem(state, decisions), "all jobs are created", generation,
                          now);
  const Problem service = service_problem(state, decisions.service);
  const char* ready =
      state.spec.dns ? "the headless service serves the pods" : "spec.network.enableDNSHostnames is false";
  const bool changed = plan::set_own_condition(conditions, kServiceReady, service, ready, generation, now);
  if (changed && decisions.service.kind == ServiceKind::kConflict) {
    changes.event(EventType::kWarning, "ServiceConflict", service.message);
  }
}

/// Why the API server refuses the pods of the first Job that lacks some; empty if that is not known.
std::string refused_pods(const JobSetState& state, plan::Changes& changes) {
  const JobView* lacking = nullptr;
  for (const JobPtr& job : state.children.active) {
    if (has_all_pods(*job) || job->suspended || job->deletion || is_finishing(*job)) continue;
    if (lacking == nullptr || job->key.name < lacking->key.name) lacking = job.get();
  }
  if (lacking == nullptr) return {};
  const Json& before = state.status.conditions;
  const plan::LackingPods owner{kJobs.kind, lacking->key.name, lacking->uid, lacking->started.value_or(state.seen.now)};
  std::string refused = plan::explain_lacking_pods(owner, before, state.seen.answers, state.seen.now, changes);
  const Json* const placed = find_condition(before, plan::kSlicesPlaced);
  if (!refused.empty() && string_at(*placed, {"reason"}) != plan::kPodsRefused) {
    changes.event(EventType::kWarning, plan::kPodsRefused, refused);
  }
  return refused;
}

/// The progress from the Job controller's pod counts.
plan::PodProgress pod_progress(const JobSetState& state, const Decisions& decisions) {
  using Phase = plan::PodProgress::Phase;
  if (decisions.finishes()) return {.phase = Phase::kFinished};
  if (state.spec.suspended) return {.phase = Phase::kSuspended};
  const auto& active = state.children.active;
  const auto created = std::ranges::count_if(active, [](const JobPtr& job) { return has_all_pods(*job); });
  const auto ready = std::ranges::count_if(active, [](const JobPtr& job) { return is_ready(*job); });
  const auto succeeded = static_cast<std::int64_t>(state.children.succeeded.size());
  const std::int64_t replicas = state.spec.total_replicas();
  return {.all_created = created + succeeded >= replicas, .all_started = ready + succeeded >= replicas};
}

}  // namespace

JobSetStatus next_status(const JobSetState& state, const Decisions& decisions, plan::Changes& changes) {
  JobSetStatus status = state.status;
  status.jobs = state.counts;
  if (!state.status.finished()) {
    status.started = next_start_time(state, decisions.failure && decisions.failure->restart.has_value());
  }
  set_upstream_conditions(state, decisions, status, changes);
  set_own_conditions(state, decisions, status.conditions, changes);
  plan::PodProgress progress = pod_progress(state, decisions);
  if (progress.phase == plan::PodProgress::Phase::kActive) progress.refused = refused_pods(state, changes);
  plan::update_waiting_conditions(state.seen.waiting, progress, state.spec.generation, state.seen.now,
                                  status.conditions);
  plan::set_observed_generation(status.conditions, state.spec.generation);
  return status;
}

JobSetStatus refused_status(const JobSetState& state, const Problem& refusal, plan::Changes& changes) {
  JobSetStatus status = state.status;
  if (state.spec.suspended) {
    status.started.reset();
    status.jobs = state.counts;  // A queue waits until no Job is active.
    UpstreamConditions conditions(state, status.conditions, changes);
    set_suspended(conditions);
  }
  if (plan::set_accepted(status.conditions, refusal, state.spec.generation, state.seen.now)) {
    changes.event(EventType::kWarning, "InvalidJobSetSpec", refusal.message);
  }
  for (const std::string_view type : {kJobsStarted, kServiceReady}) {
    if (find_condition(status.conditions, type) != nullptr) continue;
    plan::set_own_condition(status.conditions, type, {"NotAccepted", "the spec is refused"}, "", state.spec.generation,
                            state.seen.now);
  }
  plan::update_waiting_conditions({}, {plan::PodProgress::Phase::kRefused}, state.spec.generation, state.seen.now,
                                  status.conditions);
  plan::set_observed_generation_unless_true(status.conditions, state.spec.generation);
  return status;
}

}  // namespace tpuslice::jobset
