#include "controllers/raycronjob/raycronjob_state.h"

#include "controllers/raycronjob/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::raycronjob {
namespace {

/// The errors of admission, which an object that was created without the webhook may have.
Problem validate(const Json& cron_job) {
  return rules::refusal(validate_raycronjob(cron_job, nullptr), unsupported_raycronjob_fields(cron_job));
}

}  // namespace

RayCronJobState::RayCronJobState(const RayCronJobObserved& observed, const Options& options)
    : seen(observed),
      spec(observed.cron_job.spec()),
      refusal(validate(observed.cron_job.json())),
      runs(find_runs(spec, last_schedule_time(observed.cron_job), observed.now, options)) {}

}  // namespace tpuslice::raycronjob
