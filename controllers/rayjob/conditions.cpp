#include "controllers/rayjob/conditions.h"

#include <utility>

#include "controllers/plan/conditions.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

class Conditions {
 public:
  Conditions(const RayJobState& state, Draft& draft) : state_(state), conditions_(draft.status.conditions) {}

  void set(std::string_view type, bool value, std::string_view reason, std::string message) {
    set_condition(
        conditions_,
        {std::string(type), value ? "True" : "False", std::string(reason), std::move(message), state_.spec.generation},
        state_.seen.now);
  }
  void set_own(std::string_view type, const Problem& problem, std::string_view message) {
    plan::set_own_condition(conditions_, type, problem, message, state_.spec.generation, state_.seen.now);
  }
  [[nodiscard]] bool has(std::string_view type) const { return find_condition(conditions_, type) != nullptr; }

 private:
  const RayJobState& state_;
  Json& conditions_;
};

/// Why the conditions of the children are False; no problem while the RayJob is active.
Problem inactive(const RayJobStatus& status) {
  if (status.finished()) return {"Finished", "the RayJob has finished"};
  if (status.deployment == kSuspended) return {std::string(kSuspended), "the RayJob is suspended"};
  if (status.deployment == kValidationFailed) return {"NotAccepted", "the spec is refused"};
  return {};
}

Problem cluster_problem(const RayJobState& state, const Draft& draft) {
  if (draft.cluster) return draft.cluster;
  const std::string& deployment = draft.status.deployment;
  if (deployment != state.status.deployment && deployment == kInitializing) {
    return {"ClusterPending", "the RayCluster is not created yet"};
  }
  if (deployment == kRetrying || deployment == kSuspending) return {deployment, "the RayCluster is being deleted"};
  return {};
}

}  // namespace

void set_conditions(const RayJobState& state, Draft& draft) {
  const std::string& deployment = draft.status.deployment;
  Conditions all(state, draft);
  if (!state.status.finished()) {
    const bool changed =
        plan::set_accepted(draft.status.conditions, state.refusal, state.spec.generation, state.seen.now);
    if (changed && state.refusal) {
      draft.changes.event(plan::EventType::kWarning, "InvalidRayJobSpec", state.refusal.message);
    }
  }
  const Problem none = inactive(draft.status);
  all.set_own(kClusterReady, none ? none : cluster_problem(state, draft), "the RayCluster is ready");
  all.set_own(kChildrenReady, none ? none : draft.children, "no child is missing or has the name of another object");
  const bool suspended = deployment == kSuspended;
  if (suspended || all.has(kSuspended)) {
    all.set(kSuspended, suspended, suspended ? "RayJobSuspended" : "RayJobResumed",
            suspended ? "RayJob suspended" : "RayJob resumed");
  }
  if (deployment == kComplete) all.set(kComplete, true, draft.status.job, draft.status.message);
  if (deployment == kFailed) all.set(kFailed, true, draft.status.reason, draft.status.message);
  if (state.refusal) {
    plan::set_observed_generation_unless_true(draft.status.conditions, state.spec.generation);
  } else {
    // The spec of a finished RayJob is not validated.
    plan::set_observed_generation(draft.status.conditions, state.spec.generation,
                                  state.status.finished() ? plan::kAccepted : std::string_view());
  }
}

}  // namespace tpuslice::rayjob
