#include "controllers/raycluster/raycluster_status.h"

#include <algorithm>
#include <array>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/desired_resources.h"
#include "controllers/raycluster/head.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::array kReplicaFailures{kFailedDeleteAllPods, kFailedDeleteHeadPod, kFailedCreateHeadPod,
                                      kFailedDeleteWorkerPod, kFailedCreateWorkerPod};

class Conditions {
 public:
  Conditions(const RayClusterObserved& seen, Json& conditions) : seen_(seen), conditions_(conditions) {}

  void set(std::string_view type, bool value, std::string_view reason, std::string message) {
    Condition condition{std::string(type), value ? "True" : "False", std::string(reason), std::move(message),
                        seen_.cluster.generation()};
    set_condition(conditions_, condition, seen_.now);
  }
  void remove(std::string_view type) { remove_condition(conditions_, type); }
  [[nodiscard]] bool is_true(std::string_view type) const { return is_condition_true(conditions_, type); }

 private:
  const RayClusterObserved& seen_;
  Json& conditions_;
};

void set_head_ready(const PodPtr& head, Conditions& conditions) {
  if (head == nullptr) return conditions.set(kHeadPodReady, false, "HeadPodNotFound", "Head Pod not found");
  std::string reason = head->ready_reason;
  std::string message = head->ready_message;
  if (head->ready && reason.empty()) reason = "HeadPodRunningAndReady";
  if (reason == "ContainersNotReady") {
    const auto stopped = std::ranges::find_if(head->containers, [](const ContainerView& container) {
      return !container.waiting_reason.empty() || container.terminated;
    });
    if (stopped != head->containers.end()) {
      const bool waiting = !stopped->waiting_reason.empty();
      reason = waiting ? stopped->waiting_reason : stopped->terminated_reason;
      if (!message.empty()) message += "; ";
      const std::string why = waiting ? stopped->waiting_message.str() : stopped->failure();
      message += stopped->name + ": " + (why.empty() ? reason : why);
    }
  }
  conditions.set(kHeadPodReady, head->ready, reason.empty() ? "Unknown" : reason, message);
}

void set_provisioned(SuspendPhase phase, bool all_running, Conditions& conditions) {
  if (phase == SuspendPhase::kPodsDeleted || phase == SuspendPhase::kSuspended) {
    return conditions.set(kProvisioned, false, "RayClusterPodsProvisioning", "RayCluster has been suspended");
  }
  if (conditions.is_true(kProvisioned)) return;  // It stays True: all pods have been ready once.
  if (all_running) {
    conditions.set(kProvisioned, true, "AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time");
  } else {
    conditions.set(kProvisioned, false, "RayClusterPodsProvisioning",
                   "RayCluster Pods are being provisioned for first time");
  }
}

void set_suspension(SuspendPhase phase, Conditions& conditions) {
  switch (phase) {
    case SuspendPhase::kRunning:
      conditions.set(kSuspendingCondition, false, kSuspendingCondition, "");
      conditions.set(kSuspendedCondition, false, kSuspendedCondition, "");
      return;
    case SuspendPhase::kRequested:
    case SuspendPhase::kDeletingPods:
      conditions.set(kSuspendingCondition, true, kSuspendingCondition, "");
      conditions.set(kSuspendedCondition, false, kSuspendedCondition, "");
      return;
    case SuspendPhase::kPodsDeleted:
      conditions.set(kSuspendingCondition, false, kSuspendingCondition, "");
      conditions.set(kSuspendedCondition, true, kSuspendedCondition, "");
      return;
    case SuspendPhase::kSuspended:
      if (conditions.is_true(kSuspendingCondition)) {
        conditions.set(kSuspendingCondition, false, kSuspendingCondition, "");
      }
      return;
  }
}

void set_replica_failure(const StatusInput& input, Conditions& conditions) {
  const auto& failure = input.state.seen.last_failure;
  const bool of_pods = failure && std::ranges::find(kReplicaFailures, failure->reason) != kReplicaFailures.end();
  if (of_pods) {
    conditions.set(kReplicaFailure, true, failure->reason, failure->message);
  } else {
    conditions.remove(kReplicaFailure);
  }
}

void set_services_ready(Json& conditions, const Problem& problem, std::int64_t generation, Timestamp now) {
  plan::set_own_condition(conditions, kServicesReady, problem, "all services exist and select the cluster's pods",
                          generation, now);
}

void set_children_ready(Json& conditions, const std::optional<Problem>& children, std::int64_t generation,
                        Timestamp now) {
  plan::set_own_condition(conditions, plan::kChildrenReady, children.value_or(Problem{}),
                          children ? "all children of the cluster exist" : "only pods and services are needed",
                          generation, now);
}

plan::PodProgress pod_progress(const StatusInput& input) {
  if (input.state.phase != SuspendPhase::kRunning) return {.phase = plan::PodProgress::Phase::kSuspended};
  const auto live = [](const PodPtr& pod) { return !pod->terminating() && !pod->finished(); };
  const auto running = [&](const PodPtr& pod) { return live(pod) && pod->phase == PodPhase::kRunning; };
  const auto count = [&](const auto& filter) {
    return std::pair(std::ranges::count_if(input.state.pods.heads, filter),
                     std::ranges::count_if(input.state.pods.workers, filter));
  };
  const auto enough = [desired = desired_workers(input.state.spec).desired](const auto& heads_and_workers) {
    return heads_and_workers.first > 0 && heads_and_workers.second >= desired;
  };
  return {.all_created = enough(count(live)), .all_started = enough(count(running))};
}

}  // namespace

void update_refused(const RayClusterState& state, const Problem& refusal, Json& conditions) {
  const auto& [seen, spec, pods, phase] = state;
  const std::int64_t generation = seen.cluster.generation();
  if (phase != SuspendPhase::kRunning) {
    Conditions all(seen, conditions);
    set_provisioned(phase, false, all);
    set_suspension(phase, all);
  }
  plan::set_accepted(conditions, refusal, generation, seen.now);
  if (find_condition(conditions, kServicesReady) == nullptr) {
    set_services_ready(conditions, {"NotAccepted", "the spec is refused"}, generation, seen.now);
  }
  if (find_condition(conditions, plan::kChildrenReady) == nullptr) {
    set_children_ready(conditions, Problem{"NotAccepted", "the spec is refused"}, generation, seen.now);
  }
  plan::update_waiting_conditions({}, {plan::PodProgress::Phase::kRefused}, generation, seen.now, conditions);
  plan::set_observed_generation_unless_true(conditions, generation);
}

void update_conditions(const StatusInput& input, bool all_running, Json& conditions) {
  Conditions all(input.state.seen, conditions);
  set_head_ready(choose_head(input.state.spec, input.state.pods.heads), all);
  set_provisioned(input.state.phase, all_running, all);
  set_suspension(input.state.phase, all);
  set_replica_failure(input, all);
  const std::int64_t generation = input.state.seen.cluster.generation();
  plan::set_accepted(conditions, input.refusal, generation, input.state.seen.now);
  set_services_ready(conditions, input.services, generation, input.state.seen.now);
  set_children_ready(conditions, input.children, generation, input.state.seen.now);
  plan::update_waiting_conditions(input.state.seen.pods, pod_progress(input), generation, input.state.seen.now,
                                  conditions);
  plan::set_observed_generation(conditions, generation);
}

}  // namespace tpuslice::raycluster
