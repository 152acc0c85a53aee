#include "controllers/raycluster/status_conditions.h"

#include <algorithm>
#include <array>

#include "api/types/conditions.h"
#include "controllers/raycluster/head_plan.h"
#include "controllers/raycluster/labels.h"
#include "tpu/waiting.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::string_view kHeadPodReady = "HeadPodReady";
constexpr std::string_view kProvisioned = "RayClusterProvisioned";
constexpr std::string_view kReplicaFailure = "ReplicaFailure";
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
  [[nodiscard]] bool has(std::string_view type) const { return find_condition(conditions_, type) != nullptr; }

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
      message += stopped->name + ": " + (waiting ? stopped->waiting_message : stopped->terminated_message);
    }
  }
  conditions.set(kHeadPodReady, head->ready, reason.empty() ? "Unknown" : reason, message);
}

void set_provisioned(SuspendPhase phase, bool all_running, Conditions& conditions) {
  if (phase == SuspendPhase::kEnding || phase == SuspendPhase::kSuspended) {
    return conditions.set(kProvisioned, false, "RayClusterPodsProvisioning", "RayCluster has been suspended");
  }
  if (conditions.is_true(kProvisioned)) return;  // for good: it says that there was such a time
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
      if (conditions.has(kSuspendedCondition)) conditions.set(kSuspendedCondition, false, kSuspendedCondition, "");
      return;
    case SuspendPhase::kBeginning:
    case SuspendPhase::kDeleting:
      conditions.set(kSuspendingCondition, true, kSuspendingCondition, "");
      conditions.set(kSuspendedCondition, false, kSuspendedCondition, "");
      return;
    case SuspendPhase::kEnding:
      conditions.set(kSuspendingCondition, false, kSuspendingCondition, "");
      conditions.set(kSuspendedCondition, true, kSuspendedCondition, "");
      return;
    case SuspendPhase::kSuspended:
      return;
  }
}

void set_failures(const StatusInput& input, Conditions& conditions) {
  const auto& failure = input.seen.last_failure;
  const bool of_pods = failure && std::ranges::find(kReplicaFailures, failure->reason) != kReplicaFailures.end();
  if (of_pods) {
    conditions.set(kReplicaFailure, true, failure->reason, failure->message);
  } else {
    conditions.remove(kReplicaFailure);
  }
  if (!input.service_conflict.empty()) {
    conditions.set(kServicesReady, false, "ServiceConflict", input.service_conflict);
  } else if (failure && failure->reason == kFailedService) {
    conditions.set(kServicesReady, false, kFailedService, failure->message);
  } else {
    conditions.remove(kServicesReady);
  }
}

}  // namespace

void update_accepted(const RayClusterObserved& seen, const Refusal& refusal, Json& conditions) {
  Conditions all(seen, conditions);
  if (refusal) {
    all.set(kAccepted, false, refusal.reason, refusal.message);
  } else {
    all.remove(kAccepted);
  }
}

void update_conditions(const StatusInput& input, bool all_running, Json& conditions) {
  Conditions all(input.seen, conditions);
  set_head_ready(choose_head(input.spec, input.pods.heads), all);
  set_provisioned(input.phase, all_running, all);
  set_suspension(input.phase, all);
  set_failures(input, all);
  tpu::tell_waiting(input.pods.workers, input.seen.cluster.generation(), input.seen.now, conditions);
  update_accepted(input.seen, input.refusal, conditions);
}

}  // namespace tpuslice::raycluster
