#include "controllers/rayjob/render.h"

#include <optional>
#include <utility>

#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

class Conditions {
 public:
  explicit Conditions(const RayJobState& state) : state_(state), conditions_(state.status.conditions) {}

  void set_accepted(plan::Changes& changes) {
    const bool changed = plan::set_accepted(conditions_, state_.refusal, state_.spec.generation, state_.seen.now);
    if (changed && state_.refusal) {
      changes.event(plan::EventType::kWarning, "InvalidRayJobSpec", state_.refusal.message);
    }
  }

  void set(std::string_view type, bool value, std::string_view reason, std::string message) {
    set_condition(
        conditions_,
        {std::string(type), value ? "True" : "False", std::string(reason), std::move(message), state_.spec.generation},
        state_.seen.now);
  }
  void set_slices_placed(const Problem& problem, plan::Changes& changes) {
    if (plan::begins_to_wait(conditions_, problem)) {
      changes.event(plan::EventType::kNormal, plan::kSliceWaiting, problem.message);
    }
    set_own(plan::kSlicesPlaced, problem, "the slices of the RayCluster are placed");
  }
  /// The condition of a finished RayJob stays True.
  void set_own(std::string_view type, const Problem& problem, std::string_view message, bool finished = false) {
    if (finished) {
      return plan::set_inactive_condition(conditions_, type, problem, state_.spec.generation, state_.seen.now);
    }
    plan::set_own_condition(conditions_, type, problem, message, state_.spec.generation, state_.seen.now);
  }
  [[nodiscard]] bool has(std::string_view type) const { return find_condition(conditions_, type) != nullptr; }

  [[nodiscard]] Json result() && {
    if (state_.refusal) {
      plan::set_observed_generation_unless_true(conditions_, state_.spec.generation);
    } else {
      // The spec of a finished RayJob is not validated.
      plan::set_observed_generation(conditions_, state_.spec.generation,
                                    state_.status.finished() ? plan::kAccepted : std::string_view());
    }
    return std::move(conditions_);
  }

 private:
  const RayJobState& state_;
  Json conditions_;
};

/// Why the conditions of the children are False; no problem while the RayJob is active.
Problem inactive(const RayJobStatus& status) {
  if (status.finished()) return {"Finished", "the RayJob has finished"};
  if (status.deployment == kSuspended) return {std::string(kSuspended), "the RayJob is suspended"};
  if (status.deployment == kValidationFailed) return {"NotAccepted", "the spec is refused"};
  return {};
}

Problem cluster_problem(const RayJobState& state, const Decisions& decisions) {
  if (decisions.cluster.problem) return decisions.cluster.problem;
  const std::string& deployment = decisions.status.deployment;
  if (deployment != state.status.deployment && deployment == kInitializing) {
    return {"ClusterPending", "the RayCluster is not created yet"};
  }
  if (deployment == kRetrying || deployment == kSuspending) return {deployment, "the RayCluster is being deleted"};
  return {};
}

/// Why slices of the RayCluster wait, as its condition says; nothing if it has none.
std::optional<Problem> slices_problem(const Decisions& decisions) {
  const Json* const condition = find_condition(array_at(decisions.cluster.status, {"conditions"}), plan::kSlicesPlaced);
  if (condition == nullptr) return std::nullopt;
  if (string_at(*condition, {"status"}) == "True") return Problem{};
  return Problem{string_at(*condition, {"reason"}), string_at(*condition, {"message"})};
}

Problem children_problem(const Decisions& decisions) {
  if (decisions.submitter.problem) return decisions.submitter.problem;
  return decisions.service.problem ? decisions.service.problem : decisions.cluster.child_problem;
}

}  // namespace

Json next_conditions(const RayJobState& state, const Decisions& decisions, plan::Changes& changes) {
  const RayJobStatus& next = decisions.status;
  Conditions all(state);
  if (!state.status.finished()) all.set_accepted(changes);
  const Problem none = inactive(next);
  all.set_own(kClusterReady, none ? none : cluster_problem(state, decisions), "the RayCluster is ready",
              next.finished());
  // The condition of a finished RayJob stays as it was.
  std::optional<Problem> slices = next.finished() ? std::nullopt : slices_problem(decisions);
  if (!slices && !next.finished() && all.has(plan::kSlicesPlaced)) {
    slices = {"ClusterPending", "the RayCluster does not exist, or has no pods yet"};
  }
  if (slices) all.set_slices_placed(none ? none : *slices, changes);
  all.set_own(plan::kChildrenReady, none ? none : children_problem(decisions),
              "no child is missing or has the name of another object", next.finished());
  const bool suspended = next.deployment == kSuspended;
  if (suspended || all.has(kSuspended)) {
    all.set(kSuspended, suspended, suspended ? "RayJobSuspended" : "RayJobResumed",
            suspended ? "RayJob suspended" : "RayJob resumed");
  }
  if (next.deployment == kComplete) all.set(kComplete, true, next.job, next.message);
  if (next.deployment == kFailed) all.set(kFailed, true, next.reason, next.message);
  return std::move(all).result();
}

}  // namespace tpuslice::rayjob
