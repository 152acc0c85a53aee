// Changes: what the parts of a planner add to a plan.
//
// All planners of kinds have the same parts:
//   <kind>_state.h   <Kind>State: what is derived from one observation, once. Borrows from the observation.
//   decisions.h      decide(state) -> Decisions: what is done, as values. A document only where it was compared with a
//                    live one, a text only where the status keeps it.
//   render.h         render(state, decisions) -> Plan: an enum Step with the stages, actions, events, reasons, status.
//   <kind>_plan.h    plan_<kind>(observed): checks the spec, then render(state, decide(state)).
// A decision does not read what render() makes, and render() decides nothing.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "controllers/plan/plan.h"

namespace tpuslice::plan {

/// Action of most events.
inline constexpr std::string_view kReconciling = "Reconciling";

/// Reason and message of an event.
struct EventText {
  std::string_view reason;
  std::string message;
};

/// What is reported of an action, or of several that share it: a Normal event once all have succeeded, a Warning if one
/// has failed.
[[nodiscard]] ActionEvents result_events(EventText success, EventText failure, std::string_view action = kReconciling);

/// A kind numbers its stages with an enum, in the order in which they run; the parts of its planner add actions to them
/// in any order.
///
///   enum class Step : std::uint8_t { kDeletes, kServices, kPods };
///   changes.add(Step::kPods, Action::create(kPods, pod));
///   changes.reasons.push_back("the head pod is missing: creating it");
///   return to_plan(std::move(changes), status_of(cluster), std::move(status));
struct Changes {
  std::vector<Stage> stages;  ///< By number; those without actions are left out of the plan.
  std::vector<EventIntent> events;
  std::vector<Measurement> measurements;
  std::vector<std::string> reasons;  ///< One sentence each.
  std::optional<Duration> requeue_after;
  std::vector<WorkloadRequest> requests;
  bool keeps_failure = false;  ///< The same as in Plan.

  template <typename Step>
  requires std::is_enum_v<Step> Stage& stage(Step step) {
    const auto number = static_cast<std::size_t>(step);
    if (stages.size() <= number) stages.resize(number + 1);
    return stages[number];
  }
  template <typename Step>
  void add(Step step, Action action) {
    stage(step).actions.push_back(std::move(action));
  }
  template <typename Step>
  void add(Step step, Action action, ActionEvents reported) {
    action.events = std::make_shared<const ActionEvents>(std::move(reported));
    add(step, std::move(action));
  }
  /// Actions that share what is reported of them: "Created pods a, b and c" once all of them succeeded.
  template <typename Step>
  void add(Step step, std::vector<Action> actions, ActionEvents shared) {
    const auto reported = std::make_shared<const ActionEvents>(std::move(shared));
    for (Action& action : actions) {
      action.events = reported;
      add(step, std::move(action));
    }
  }

  /// An event with the action "Reconciling".
  void event(EventType type, std::string_view reason, std::string message);
  /// Increments a counter whatever becomes of the actions. `value`: of its label, if it has one.
  void count(const CounterDefinition& counter, std::string_view value = {});
  /// The same for a counter with a series for each object.
  void count_object(const CounterDefinition& counter, const ObjectKey& object);
  /// Requeues after `time` at the latest; at least one millisecond.
  void requeue_within(Duration time);
};

/// One increment. `value`: of the counter's label, if it has one.
[[nodiscard]] Measurement increment(const CounterDefinition& counter, std::string_view value = {});

/// The plan that makes these changes and writes `status` if it differs from `before`. A plan without reasons that
/// writes the status has the reason `status_reason`.
[[nodiscard]] Plan to_plan(Changes changes, const Json& before, Json status, std::string status_reason = "status");

/// Sets StatusPatch::counts_only if the plan's status, with the objects in it, differs from `before` only in these
/// fields, which are counts.
void mark_counts(Plan& plan, const Json& before, std::initializer_list<std::string_view> fields);

/// "a, b, c"; beyond `limit` elements "a, b and 7 more".
[[nodiscard]] std::string join_names(const std::vector<std::string>& names, std::size_t limit = 4);

}  // namespace tpuslice::plan
