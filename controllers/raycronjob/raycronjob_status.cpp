#include "controllers/raycronjob/raycronjob_status.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/plan/conditions.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"

namespace tpuslice::raycronjob {
namespace {

Json status_before(const RayCronJobState& state) {
  Json status = plan::status_of(state.seen.cron_job);
  return status.is_object() ? status : Json::object();
}

Json conditions_of(const Json& status) { return array_at(status, {"conditions"}); }

void add_event(const Problem& problem, plan::Changes& changes) {
  using plan::EventType;
  if (problem.reason == kSuspended) {
    changes.event(EventType::kNormal, "SuspendedRayCronJob", problem.message);
  } else if (problem.reason == kNameConflict) {
    changes.event(EventType::kWarning, "NameConflict", problem.message);
  }
}

}  // namespace

Json next_status(const RayCronJobState& state, const Decisions& decisions, plan::Changes& changes) {
  Json status = status_before(state);
  Json conditions = conditions_of(status);
  const std::int64_t generation = state.spec.generation;
  plan::set_accepted(conditions, {}, generation, state.seen.now);
  const std::string message = decisions.next ? fmt::format("the next run is at {}", format_rfc3339(*decisions.next))
                                             : std::string("there is no next run");
  if (plan::set_own_condition(conditions, kScheduled, decisions.problem, message, generation, state.seen.now)) {
    add_event(decisions.problem, changes);
  }
  plan::set_observed_generation(conditions, generation);
  if (decisions.recorded) status["lastScheduleTime"] = format_rfc3339(*decisions.recorded);
  status["conditions"] = std::move(conditions);
  return status;
}

Json refused_status(const RayCronJobState& state, plan::Changes& changes) {
  Json status = status_before(state);
  Json conditions = conditions_of(status);
  const std::int64_t generation = state.spec.generation;
  if (plan::set_accepted(conditions, state.refusal, generation, state.seen.now)) {
    changes.event(plan::EventType::kWarning, "InvalidRayCronJobSpec", state.refusal.message);
  }
  plan::set_own_condition(conditions, kScheduled, {"NotAccepted", "the spec is refused"}, "", generation,
                          state.seen.now);
  plan::set_observed_generation_unless_true(conditions, generation);
  status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace tpuslice::raycronjob
