#include "controllers/jobset/finish.h"

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/jobset/labels.h"
#include "controllers/jobset/teardown.h"

namespace tpuslice::jobset {
namespace {

std::optional<Timestamp> finished_at(const JobSetStatus& status) {
  for (const std::string_view type : {kCompleted, kFailed}) {
    if (!is_condition_true(status.conditions, type)) continue;
    return parse_rfc3339(string_at(*find_condition(status.conditions, type), {"lastTransitionTime"}));
  }
  return std::nullopt;
}

}  // namespace

void complete(Changes& changes) {
  constexpr const char* kMessage = "jobset completed successfully";
  changes.set_condition(kCompleted, true, "AllJobsCompleted", kMessage);
  changes.set_condition(kRestarting, false, "JobSetCompleted", kMessage);
  changes.status.terminal_state = kCompleted;
  changes.reasons.emplace_back(kMessage);
  changes.count("tpuslice_jobsets_finished_total", "JobSets that have ended.", {{"result", "Completed"}});
}

void clean_up(const Children& children, const Options& options, Changes& changes) {
  tear_down(children.active, "the JobSet has ended", nullptr, options, changes);
  const std::optional<Timestamp> ended = finished_at(changes.status);
  if (!changes.spec.ttl || !ended) return;
  const Timestamp due = *ended + *changes.spec.ttl;
  if (changes.now < due) return changes.look_again_in(due - changes.now);
  runtime::Action action = runtime::Action::remove(kJobSets, changes.spec.key, {.uid = changes.spec.uid});
  action.propagation = runtime::Propagation::kForeground;
  changes.deletes.push_back(std::move(action));
  changes.reasons.emplace_back("the JobSet has ended longer ago than spec.ttlSecondsAfterFinished: deleting it");
}

}  // namespace tpuslice::jobset
