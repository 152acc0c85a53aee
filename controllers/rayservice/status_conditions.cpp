#include "controllers/rayservice/rayservice_status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

using plan::Changes;
using plan::EventType;

constexpr std::string_view kInvalidSpec = "InvalidRayServiceSpec";
constexpr std::string_view kSuspendInProgress = "SuspendInProgress";
constexpr std::string_view kSuspendComplete = "SuspendComplete";
/// Ours, which every RayService has.
constexpr std::array kOwnConditions{kUpToDate, kServeConfigApplied, plan::kSlicesPlaced, plan::kChildrenReady};

/// Sets upstream's conditions.
class ServiceConditions {
 public:
  /// `refused`: of a refused spec, for which no condition becomes True.
  ServiceConditions(const RayServiceState& state, bool refused, Json& conditions)
      : state_(state), refused_(refused), conditions_(conditions) {}

  void set(std::string_view type, std::string_view status, std::string_view reason, std::string message) {
    std::int64_t generation = state_.seen.service.generation();
    if (const Json* before = find(type); before != nullptr && refused_ && status == "True") {
      generation = int_at(*before, {"observedGeneration"}, generation);
    }
    set_condition(conditions_,
                  {std::string(type), std::string(status), std::string(reason), std::move(message), generation},
                  state_.seen.now);
  }
  /// Sets a condition as set() does, but lastTransitionTime becomes now even if the status does not change.
  void begin(std::string_view type, std::string_view status, std::string_view reason, std::string message) {
    remove_condition(conditions_, type);
    set(type, status, reason, std::move(message));
  }
  [[nodiscard]] bool is_true(std::string_view type) const { return is_condition_true(conditions_, type); }
  [[nodiscard]] const Json* find(std::string_view type) const { return find_condition(conditions_, type); }
  [[nodiscard]] std::string reason(std::string_view type) const {
    const Json* found = find(type);
    return found == nullptr ? std::string() : string_at(*found, {"reason"});
  }

 private:
  const RayServiceState& state_;
  const bool refused_;
  Json& conditions_;
};

std::string seconds_text(Duration time) {
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

/// Ends the initialization if it takes too long; otherwise requeues at that time. `wait`: why no pod serves.
void check_timeout(const RayServiceState& state, const std::string& wait, ServiceConditions& conditions,
                   Changes& changes) {
  const std::optional<Duration>& timeout = state.spec.initializing_timeout;
  if (!timeout || conditions.reason(kReady) != kInitializing) return;
  const auto since = parse_rfc3339(string_at(*conditions.find(kReady), {"lastTransitionTime"}));
  if (!since) return;
  const Duration spent = state.seen.now - *since;
  if (spent < *timeout) return changes.requeue_within(*timeout - spent);
  conditions.set(kReady, "False", kInitializingTimedOut,
                 fmt::format("RayService failed to become ready within the configured timeout of {}. Time spent "
                             "initializing: {}. Last it waited because {}. Its clusters are deleted, and it does not "
                             "start again by itself: delete the RayService, or set spec.suspend to true and, once it "
                             "is suspended, to false",
                             seconds_text(*timeout), seconds_text(spent), wait));
  changes.event(EventType::kWarning, "RayServiceInitializingTimeout",
                fmt::format("RayService initializing timeout exceeded after {} (configured timeout: {})",
                            seconds_text(spent), seconds_text(*timeout)));
}

/// Why no pod serves, the first cause first.
std::string describe_wait(const ConditionInput& input) {
  const Cluster* newest = input.decisions.choice.newest();
  if (newest == nullptr) return "its RayCluster is being created";
  if (input.decisions.room.problem) return input.decisions.room.problem.message;
  const Json* started =
      find_condition(array_at(newest->object.json(), {"status", "conditions"}), plan::kContainersStarted);
  if (started != nullptr && string_at(*started, {"reason"}) == plan::kContainersStuck) {
    return fmt::format("RayCluster {}: {}", newest->name(), string_at(*started, {"message"}));
  }
  const std::optional<Serving>& serving = input.decisions.newest();
  if (serving && serving->problem) return serving->problem.message;
  if (serving && serving->info) {
    for (const auto& [name, application] : serving->info->applications) {
      if (application.status == ray::kApplicationRunning) continue;
      return fmt::format("application {} of RayCluster {} is {}", name, newest->name(),
                         application.status.empty() ? "not reported" : application.status);
    }
  }
  return fmt::format("no pod of RayCluster {} is ready and has a healthy Serve proxy", newest->name());
}

void update_ready(const ConditionInput& input, ServiceConditions& conditions, Changes& changes) {
  constexpr std::string_view kMessage = "RayService is initializing";
  if (conditions.find(kReady) == nullptr) {
    conditions.set(kReady, "False", kInitializing, std::string(kMessage));
    conditions.set(kUpgradeInProgress, "False", kInitializing, std::string(kMessage));
  }
  if (input.endpoints > 0) {
    conditions.set(kReady, "True", "NonZeroServeEndpoints", "Number of serve endpoints is greater than 0");
  } else if (input.decisions.suspended) {
    conditions.set(kReady, "False", kClusterSuspended,
                   fmt::format("RayCluster {} is suspended", input.decisions.choice.newest()->name()));
  } else if (conditions.is_true(kReady)) {
    conditions.set(kReady, "False", "ZeroServeEndpoints", "Number of serve endpoints dropped to 0");
  } else if (input.refusal) {
    conditions.set(kReady, "False", kValidationFailed, input.refusal.message);
  } else {
    if (const std::string reason = conditions.reason(kReady);
        reason == kValidationFailed || reason == kClusterSuspended) {
      conditions.begin(kReady, "False", kInitializing, std::string(kMessage));
    }
    if (conditions.reason(kReady) == kInitializing) {
      conditions.set(kReady, "False", kInitializing, fmt::format("{}: {}", kMessage, describe_wait(input)));
    }
    check_timeout(input.state, describe_wait(input), conditions, changes);
  }
}

void update_upgrade(const ConditionInput& input, ServiceConditions& conditions) {
  if (!input.active_name.empty() && !input.pending_name.empty()) {
    return conditions.set(kUpgradeInProgress, "True", "BothActivePendingClustersExist",
                          "Both active and pending Ray clusters exist");
  }
  if (!input.active_name.empty()) {
    return conditions.set(kUpgradeInProgress, "False", "NoPendingCluster",
                          "Active Ray cluster exists and no pending Ray cluster");
  }
  const std::string reason = conditions.reason(kUpgradeInProgress);
  if (reason != kInitializing && reason != kInitializingTimedOut) {
    conditions.set(kUpgradeInProgress, "Unknown", "NoActiveCluster", "No active Ray cluster exists");
  }
}

void update_rollback(const ConditionInput& input, ServiceConditions& conditions, Json& all) {
  const ClusterChoice& choice = input.decisions.choice;
  if (input.refusal) return;
  if (choice.rollback) {
    return conditions.set(kRollbackInProgress, "True", "DesiredClusterSpecChanged",
                          choice.reverted ? "Goal state reverted to original cluster, rolling back."
                                          : "Goal state changed mid-upgrade, rolling back to original cluster.");
  }
  if (conditions.is_true(kRollbackInProgress)) remove_condition(all, kRollbackInProgress);
}

/// spec.rayClusterConfig has changed during an upgrade, and the new cluster has not been made yet.
Problem rolls_back(const ClusterChoice& choice) {
  return {std::string(kRollbackInProgress),
          fmt::format("spec.rayClusterConfig has changed during an upgrade: capacity and traffic of RayCluster {} go "
                      "back to {}, then a new RayCluster is created",
                      choice.pending_name, choice.active_name)};
}

Problem up_to_date_problem(const ConditionInput& input) {
  if (input.refusal) return {"NotAccepted", "the spec is refused"};
  if (input.decisions.choice.rollback && !input.decisions.choice.reverted) return rolls_back(input.decisions.choice);
  if (input.decisions.choice.waits_for_gateway) {
    const Problem& problem = input.decisions.gateways.problem;
    if (problem) return problem;
    return {"ChildrenPending", "gateways and httproutes are not watched yet"};
  }
  if (!input.decisions.choice.outdated && !input.decisions.choice.held) return {};
  const Cluster& cluster = *input.decisions.choice.newest();
  if (input.decisions.choice.held) {
    return {"Suspended", fmt::format("spec.rayClusterConfig has changed, and RayCluster {} is suspended: another one "
                                     "takes its place when spec.rayClusterConfig.suspend is false",
                                     cluster.name())};
  }
  return {"UpgradeDisabled",
          fmt::format("spec.rayClusterConfig has changed, but RayCluster {} keeps its own, since "
                      "spec.upgradeStrategy.type is None: set it to NewCluster, or delete that RayCluster",
                      cluster.name())};
}

/// A cluster that is not the newest does not accept another target_capacity.
Problem capacity_problem(const RunningDecisions& decisions) {
  for (const auto& [goal, serving] : {std::pair(&decisions.goals.active, &decisions.active),
                                      std::pair(&decisions.goals.pending, &decisions.pending)}) {
    if (goal->is_step() && *serving && !(*serving)->accepted) return (*serving)->problem;
  }
  return {};
}

/// Whether a failure of the condition is one to change the capacity.
bool is_capacity_step(const RunningDecisions& decisions) { return static_cast<bool>(capacity_problem(decisions)); }

Problem serve_problem(const ConditionInput& input) {
  if (input.refusal) return {"NotAccepted", "the spec is refused"};
  const ClusterChoice& choice = input.decisions.choice;
  if (choice.rollback && !choice.reverted) {
    const Problem problem = capacity_problem(input.decisions);
    return problem ? problem : rolls_back(choice);
  }
  if (choice.waits_for_gateway) return up_to_date_problem(input);
  const std::optional<Serving>& serving = input.decisions.newest();
  if (!serving) return {"HeadNotReady", "the RayCluster is being created"};
  if (serving->record && serving->record->accepted) return {};
  return serving->problem ? serving->problem : capacity_problem(input.decisions);
}

Problem children_problem(const ConditionInput& input) {
  std::string conflicts;
  std::string pending;
  const auto append = [](std::string& list, const std::string& text) { list += (list.empty() ? "" : "; ") + text; };
  for (const Service& service : input.decisions.services) {
    if (!service.decision.conflict.empty()) append(conflicts, service.decision.conflict);
    const std::string_view progress = plan::progress(service.decision.kind);
    if (!progress.empty()) append(pending, fmt::format("service {} {}", service.desired.name(), progress));
  }
  if (!conflicts.empty()) return {std::string(raycluster::kServiceConflict), conflicts};
  const auto& failure = input.state.seen.last_failure;
  if (failure && (failure->reason == kFailedRayCluster || failure->reason == kFailedService)) {
    return {failure->reason, failure->message};
  }
  if (input.decisions.gateways.problem) return input.decisions.gateways.problem;
  if (input.decisions.create) pending = fmt::format("RayCluster {} is being created", input.decisions.create->name());
  if (pending.empty() && input.active_name.empty()) {
    if (input.refusal) return {"NotAccepted", "the spec is refused"};
    pending = "the services are created when the RayCluster serves";
  }
  return pending.empty() ? Problem{} : Problem{"ChildrenPending", std::move(pending)};
}

/// Sets a condition of ours. A Warning with `event` reports a problem once; empty: no event.
void set_own(const ConditionInput& input, std::string_view type, const Problem& problem, std::string_view message,
             std::string_view event, Json& conditions, Changes& changes) {
  const bool changed = plan::set_own_condition(conditions, type, problem, message,
                                               input.state.seen.service.generation(), input.state.seen.now);
  if (changed && problem && !event.empty()) changes.event(EventType::kWarning, event, problem.message);
}

void follow_generation(const RayServiceState& state, const Problem& refusal, Json& conditions) {
  const std::int64_t generation = state.seen.service.generation();
  if (refusal) {
    plan::set_observed_generation_unless_true(conditions, generation);
  } else {
    plan::set_observed_generation(conditions, generation);
  }
}

}  // namespace

void update_conditions(const ConditionInput& input, Json& conditions, Changes& changes) {
  ServiceConditions upstream(input.state, static_cast<bool>(input.refusal), conditions);
  update_ready(input, upstream, changes);
  update_upgrade(input, upstream);
  update_rollback(input, upstream, conditions);
  set_own(input, plan::kAccepted, input.refusal, "the spec is valid", kInvalidSpec, conditions, changes);
  if (upstream.reason(kReady) == kInitializingTimedOut) return update_timed_out(input.state, input.refusal, conditions);
  set_own(input, kUpToDate, up_to_date_problem(input), "the newest RayCluster has the present rayClusterConfig",
          input.decisions.choice.outdated ? "UpgradeDisabled" : "", conditions, changes);
  const Problem serve = serve_problem(input);
  const bool failed = serve.reason == "ConfigRefused" || serve.reason == "DashboardFailing";
  set_own(input, kServeConfigApplied, serve, "the newest RayCluster has accepted serveConfigV2",
          !failed                             ? ""
          : is_capacity_step(input.decisions) ? "FailedToUpdateTargetCapacity"
                                              : "FailedToUpdateServeApplications",
          conditions, changes);
  Problem room = input.decisions.room.problem;
  if (input.refusal && input.decisions.choice.newest() == nullptr) room = {"NotAccepted", "the spec is refused"};
  if (plan::begins_to_wait(conditions, room)) changes.event(EventType::kNormal, plan::kSliceWaiting, room.message);
  set_own(input, plan::kSlicesPlaced, room, "the slices of the newest RayCluster are placed",
          room.reason == kNoRoomForUpgrade ? kNoRoomForUpgrade : "", conditions, changes);
  const Problem children = children_problem(input);
  set_own(input, plan::kChildrenReady, children, "all children of the RayService exist",
          children.reason == kGatewayApiMissing ? kGatewayApiMissing : "", conditions, changes);
  follow_generation(input.state, input.refusal, conditions);
}

void update_timed_out(const RayServiceState& state, const Problem& refusal, Json& conditions) {
  ServiceConditions(state, false, conditions)
      .set(kUpgradeInProgress, "False", kInitializingTimedOut, "No upgrade in progress.");
  for (const std::string_view type : kOwnConditions) {
    plan::set_own_condition(conditions, type,
                            {std::string(kInitializingTimedOut),
                             fmt::format("the initialization has timed out, see the condition {}", kReady)},
                            {}, state.seen.service.generation(), state.seen.now);
  }
  follow_generation(state, refusal, conditions);
}

void update_suspension(const RayServiceState& state, SuspendPhase phase, Json& conditions) {
  ServiceConditions upstream(state, false, conditions);
  const auto set_all = [&](std::string_view reason, std::string ready) {
    upstream.set(kReady, "False", reason, std::move(ready));
    upstream.set(kUpgradeInProgress, "False", reason, "No upgrade in progress.");
    upstream.set(kRollbackInProgress, "False", reason, "No rollback in progress.");
  };
  switch (phase) {
    case SuspendPhase::kRunning:
    case SuspendPhase::kSuspended:
      return;
    case SuspendPhase::kRequested:
      upstream.set(kSuspendingCondition, "True", "SuspendRequested",
                   "Spec.Suspend is true; will delete all Kubernetes resources owned by this RayService.");
      set_all(kSuspendInProgress, "RayService is suspending.");
      for (const std::string_view type : kOwnConditions) {
        plan::set_own_condition(conditions, type, {"Suspended", "the RayService is suspended"}, {},
                                state.seen.service.generation(), state.seen.now);
      }
      return;
    case SuspendPhase::kDeleting:
      if (upstream.is_true(kSuspendedCondition)) return;
      upstream.set(kSuspendingCondition, "True", kSuspendInProgress,
                   "Waiting for all Kubernetes resources owned by this RayService to be deleted.");
      return;
    case SuspendPhase::kDeleted:
      upstream.set(kSuspendingCondition, "False", kSuspendComplete, "All owned resources have been deleted.");
      upstream.set(kSuspendedCondition, "True", kSuspendComplete, "All owned resources have been deleted.");
      set_all(kSuspendComplete, "RayService is suspended.");
      return;
    case SuspendPhase::kResumed:
      constexpr std::string_view kMessage = "RayService is initializing after resuming from suspend.";
      upstream.set(kSuspendedCondition, "False", "RayServiceResumed", "Spec.Suspend is false; RayService has resumed.");
      upstream.begin(kReady, "False", kInitializing, std::string(kMessage));
      upstream.begin(kUpgradeInProgress, "False", kInitializing, std::string(kMessage));
      return;
  }
}

void update_accepted(const RayServiceState& state, const Problem& refusal, Json& conditions, Changes& changes) {
  if (plan::set_accepted(conditions, refusal, state.seen.service.generation(), state.seen.now) && refusal) {
    changes.event(EventType::kWarning, kInvalidSpec, refusal.message);
  }
  follow_generation(state, refusal, conditions);
}

}  // namespace tpuslice::rayservice
