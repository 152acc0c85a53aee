#include "controllers/jobset/jobset_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/failure_policy.h"
#include "controllers/jobset/finish.h"
#include "controllers/jobset/headless_service.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/labels.h"
#include "controllers/jobset/replicated_jobs.h"
#include "controllers/jobset/scaling.h"
#include "controllers/jobset/startup.h"
#include "controllers/jobset/success_policy.h"
#include "controllers/jobset/suspension.h"
#include "controllers/jobset/teardown.h"
#include "controllers/jobset/volume_claims.h"
#include "tpu/waiting.h"
#include "webhook/rules/jobset/validator.h"

namespace tpuslice::jobset {
namespace {

using runtime::EventType;
using runtime::Plan;

constexpr std::array kActionFailures{kJobCreationFailed, kJobUpdateFailed, kServiceCreationFailed,
                                     kClaimCreationFailed};

/// Why a spec is not carried out; both empty if it is.
struct Refusal {
  std::string reason;
  std::string message;
};

Refusal check(const Object& jobset) {
  if (const auto errors = webhook::validate_jobset(jobset.json(), nullptr); !errors.empty()) {
    return {"InvalidSpec", webhook::to_message(errors)};
  }
  std::string message;
  for (const webhook::UnservedField& field : webhook::unserved_jobset_fields(jobset.json())) {
    message += (message.empty() ? "" : "; ") + field.path + ": " + field.reason;
  }
  return message.empty() ? Refusal{} : Refusal{"UnsupportedField", message};
}

void refuse(const Refusal& refusal, Changes& changes) {
  Json& conditions = changes.status.conditions;
  const Json* before = find_condition(conditions, kAccepted);
  if (before == nullptr || string_at(*before, {"message"}) != refusal.message) {
    changes.event(EventType::kWarning, "InvalidJobSetSpec", refusal.message);
  }
  set_condition(conditions, {std::string(kAccepted), "False", refusal.reason, refusal.message, changes.spec.generation},
                changes.now);
  changes.reasons.push_back("the spec is refused: " + refusal.message);
}

/// What holds Jobs back, or a failure to write them. Not a failure to write the status: saying so would be the next
/// one.
void tell_waits(const JobSetObserved& seen, Changes& changes) {
  std::vector<Wait> waits = std::move(changes.waits);
  const bool of_action =
      seen.last_failure && std::ranges::find(kActionFailures, seen.last_failure->reason) != kActionFailures.end();
  if (of_action) waits.insert(waits.begin(), {seen.last_failure->reason, seen.last_failure->message});
  if (waits.empty()) {
    remove_condition(changes.status.conditions, kJobsStarted);
    return;
  }
  std::string message;
  for (const Wait& wait : waits) message += (message.empty() ? "" : "; ") + wait.message;
  const std::string& reason = waits.front().reason;
  set_condition(
      changes.status.conditions,
      {std::string(kJobsStarted), "False", reason.empty() ? "Waiting" : reason, message, changes.spec.generation},
      changes.now);
}

Plan to_plan(const JobSetObserved& seen, Changes changes) {
  Plan plan;
  plan.reason = runtime::summary(changes.reasons);
  for (auto* actions : {&changes.deletes, &changes.resets, &changes.jobs}) {
    for (runtime::Action& action : *actions) {
      if (action.failure_reason.empty()) action.failure_reason = kJobUpdateFailed;
    }
  }
  // Each delete is about another Job: one that fails holds back what comes after, but no other delete.
  if (!changes.deletes.empty()) plan.stages.push_back({std::move(changes.deletes), true});
  for (auto* actions : {&changes.resources, &changes.resets, &changes.jobs}) {
    if (!actions->empty()) plan.stages.push_back({std::move(*actions)});
  }
  const Json before = runtime::status_of(seen.jobset);
  Json after = changes.status.to_json(before, changes.spec);
  if (after != before) {
    if (plan.reason.empty()) plan.reason = "status";
    plan.status = runtime::StatusPatch{std::move(after)};
  }
  plan.events = std::move(changes.events);
  plan.measurements = std::move(changes.measurements);
  plan.requeue_after = changes.requeue_after;
  return plan;
}

class JobSetPlanner {
 public:
  JobSetPlanner(const JobSetObserved& seen, const Options& options, Changes& changes)
      : seen_(seen),
        options_(options),
        changes_(changes),
        children_(read_children(changes.spec, changes.status, seen.jobs)),
        builder_(std::make_shared<const JobBuilder>(seen.jobset, changes.status, options)) {}

  Status plan() {
    const bool finished = changes_.status.finished();
    count_jobs(children_, changes_);
    tear_down(children_.previous, "their attempt is over", finished ? nullptr : builder_.get(), options_, changes_);
    if (finished) {
      clean_up(children_, options_, changes_);
      return {};
    }
    if (!changes_.spec.suspended && all_ready(changes_)) {
      changes_.set_condition(kRestarting, false, "JobsReady", "all jobs are ready");
    }
    if (!children_.failed.empty()) {
      apply_failure_policy(children_.failed, changes_);
      return {};
    }
    if (has_succeeded(changes_.spec, children_)) {
      complete(changes_);
      return {};
    }
    return plan_children();
  }

 private:
  Status plan_children() {
    plan_service(seen_, changes_);
    plan_claims(seen_, changes_);
    scale_jobs(children_.active, changes_);
    const Startup startup = plan_startup(changes_);
    RETURN_IF_ERROR(create_jobs(children_, startup, builder_, changes_));
    if (changes_.spec.suspended) {
      suspend_jobs(children_.active, changes_);
    } else {
      RETURN_IF_ERROR(resume_jobs(children_.active, startup, *builder_, changes_));
    }
    tell_waits(seen_, changes_);
    return {};
  }

  const JobSetObserved& seen_;
  const Options& options_;
  Changes& changes_;
  const Children children_;
  const std::shared_ptr<const JobBuilder> builder_;
};

}  // namespace

Result<Plan> plan_jobset(const JobSetObserved& seen, const Options& options) {
  const JobSetSpec spec = JobSetSpec::read(seen.jobset);
  if (seen.jobset.deletion_timestamp() || spec.managed_elsewhere()) return Plan{};
  const JobSetStatus before = JobSetStatus::read(seen.jobset);
  Changes changes(spec, before, seen.now);
  if (const Refusal refusal = before.finished() ? Refusal{} : check(seen.jobset); !refusal.reason.empty()) {
    refuse(refusal, changes);
    return to_plan(seen, std::move(changes));
  }
  remove_condition(changes.status.conditions, kAccepted);
  const Status planned = JobSetPlanner(seen, options, changes).plan();
  if (!planned) {
    Changes refused(spec, before, seen.now);
    refuse({"InvalidSpec", planned.error().message()}, refused);
    return to_plan(seen, std::move(refused));
  }
  if (changes.status.finished()) remove_condition(changes.status.conditions, kJobsStarted);
  tpu::tell_waiting(seen.waiting, spec.generation, seen.now, changes.status.conditions);
  return to_plan(seen, std::move(changes));
}

}  // namespace tpuslice::jobset
