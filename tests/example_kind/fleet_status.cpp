#include "tests/example_kind/fleet_status.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/example_kind/rules/fleet_labels.h"

namespace tpuslice::example {
namespace {

using plan::EventType;
using Kind = plan::ChildDecision::Kind;

std::int64_t count(const FleetState& state, bool (Ship::*is)() const) {
  return std::ranges::count_if(state.ships, [&](const Ship& ship) { return (ship.*is)(); });
}

Json conditions_of(const Json& status) {
  const Json* conditions = status.is_object() ? find_set(status, {"conditions"}) : nullptr;
  return conditions != nullptr && conditions->is_array() ? *conditions : Json::array();
}

/// Why the Fleet is not ready; no problem if it is.
Problem ready_problem(const FleetState& state, const Decisions& decisions) {
  if (const auto& failure = state.seen.last_failure) {
    if (failure->reason == kPodFailed || failure->reason == kServiceFailed || failure->reason == kFlagFailed) {
      return {failure->reason, failure->message};
    }
  }
  for (const plan::ChildDecision* child : {&decisions.service, &decisions.flag}) {
    if (child->kind == Kind::kConflict) {
      return {"NameConflict", fmt::format("{}; delete it, or create the Fleet with another name", child->conflict)};
    }
  }
  const std::int64_t ready = count(state, &Ship::ready);
  if (ready == state.spec.ships) return {};
  return {"ShipsPending", fmt::format("{} of {} ships are ready", ready, state.spec.ships)};
}

}  // namespace

Json next_status(const FleetState& state, const Decisions& decisions, plan::Changes& changes) {
  const Json before = plan::status_of(state.seen.fleet);
  const std::int64_t generation = state.spec.generation;
  const Timestamp now = state.seen.now;
  Json conditions = conditions_of(before);
  const bool was_ready = is_condition_true(conditions, kReady);
  const Problem problem = ready_problem(state, decisions);
  const bool changed = plan::set_own_condition(conditions, kReady, problem, "all ships are ready", generation, now);
  if (!problem && !was_ready) changes.event(EventType::kNormal, "FleetReady", "all ships are ready");
  if (changed && problem.reason == "NameConflict") changes.event(EventType::kWarning, "NameConflict", problem.message);
  plan::set_accepted(conditions, {}, generation, now);
  plan::update_waiting_conditions(state.seen.pods,
                                  {.all_created = count(state, &Ship::complete) == state.spec.ships,
                                   .all_started = count(state, &Ship::running) == state.spec.ships},
                                  generation, now, conditions);
  plan::set_observed_generation(conditions, generation);
  Json status = before.is_object() ? before : Json::object();
  status["ships"] = count(state, &Ship::complete);
  status["readyShips"] = count(state, &Ship::ready);
  status["conditions"] = std::move(conditions);
  return status;
}

Json refused_status(const FleetState& state, const Problem& refusal, plan::Changes& changes) {
  Json status = plan::status_of(state.seen.fleet);
  if (!status.is_object()) status = Json::object();
  const std::int64_t generation = state.spec.generation;
  Json conditions = conditions_of(status);
  if (find_condition(conditions, kReady) == nullptr) {
    plan::set_own_condition(conditions, kReady, {"NotAccepted", "the spec is refused"}, "", generation, state.seen.now);
  }
  if (plan::set_accepted(conditions, refusal, generation, state.seen.now)) {
    changes.event(EventType::kWarning, "InvalidFleetSpec", refusal.message);
  }
  plan::update_waiting_conditions({}, {plan::PodProgress::Phase::kRefused}, generation, state.seen.now, conditions);
  plan::set_observed_generation_unless_true(conditions, generation);
  status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace tpuslice::example
