#include "controllers/raycronjob/render.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/changes.h"
#include "controllers/raycronjob/raycronjob_status.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::raycronjob {
namespace {

using plan::Action;
using plan::Changes;
using plan::EventType;

/// The stages of a plan.
enum class Step : std::uint8_t { kRayJob };

void create_rayjob(const RayCronJobState& state, Timestamp run, Changes& changes) {
  const Object desired = build_rayjob(state.spec, run);
  const std::string name = desired.key().to_string();
  const std::string time = format_rfc3339(run);
  plan::ActionEvents events = plan::result_events(
      {"CreatedRayJob", fmt::format("Created RayJob {} for the run at {}", name, time)},
      {"FailedToCreateRayJob", fmt::format("Failed to create RayJob {} for the run at {}", name, time)});
  if (state.runs.first_missed) {
    events.on_success.push_back({EventType::kWarning, "MissedRuns", std::string(plan::kReconciling),
                                 fmt::format("the runs from {} on were missed, only the last, at {}, was started",
                                             format_rfc3339(*state.runs.first_missed), time)});
  }
  events.measurements.push_back(plan::increment(kScheduledRayJobs));
  Action action = Action::create(rayjob::kRayJobs, desired);
  action.failure_reason = kFailedRayJob;
  changes.add(Step::kRayJob, std::move(action), std::move(events));
  changes.reasons.push_back(fmt::format("the run at {} is due: creating RayJob {}", time, name));
}

}  // namespace

plan::Plan render(const RayCronJobState& state, const Decisions& decisions) {
  Changes changes;
  if (decisions.create) {
    create_rayjob(state, *decisions.recorded, changes);
  } else if (decisions.recorded) {
    changes.reasons.push_back(fmt::format("RayJob {} of the run at {} exists",
                                          run_name(state.spec, *decisions.recorded),
                                          format_rfc3339(*decisions.recorded)));
  } else if (decisions.problem) {
    changes.reasons.push_back(decisions.problem.message);
  }
  if (decisions.requeue_after) changes.requeue_within(*decisions.requeue_after);
  changes.keeps_failure = decisions.keeps_failure;
  Json status = next_status(state, decisions, changes);
  return plan::to_plan(std::move(changes), plan::status_of(state.seen.cron_job), std::move(status));
}

plan::Plan render_refusal(const RayCronJobState& state) {
  Changes changes;
  changes.reasons.push_back("the spec is refused: " + state.refusal.message);
  Json status = refused_status(state, changes);
  return plan::to_plan(std::move(changes), plan::status_of(state.seen.cron_job), std::move(status));
}

}  // namespace tpuslice::raycronjob
