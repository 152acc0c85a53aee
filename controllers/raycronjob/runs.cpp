#include "controllers/raycronjob/runs.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/plan/plan.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/raycronjob/rules/schedule.h"
#include "controllers/raycronjob/rules/time_zones.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::raycronjob {

std::optional<Timestamp> last_schedule_time(const Object& cron_job) {
  return parse_rfc3339(string_at(plan::status_of(cron_job), {"lastScheduleTime"}));
}

Runs find_runs(const RayCronJobSpec& spec, std::optional<Timestamp> last, Timestamp now, const Options& options) {
  const Result<Schedule> schedule = Schedule::parse(spec.schedule);
  const Result<cctz::time_zone> zone = spec.time_zone ? find_time_zone(*spec.time_zone) : options.local_zone;
  if (!schedule.ok() || !zone.ok()) return {};
  const Timestamp after = last ? *last : spec.created.value_or(now);
  Runs out;
  out.due = schedule->last_between(after, now, *zone);
  if (out.due) {
    const std::optional<Timestamp> first = schedule->first_after(after, *zone);
    if (first && *first < *out.due) out.first_missed = first;
  }
  out.next = schedule->first_after(out.due.value_or(after), *zone);
  return out;
}

std::string run_name(const RayCronJobSpec& spec, Timestamp run) {
  return fmt::format("{}-{}", spec.key.name, std::chrono::floor<std::chrono::minutes>(run).time_since_epoch().count());
}

Object build_rayjob(const RayCronJobSpec& spec, Timestamp run) {
  return Object({{"apiVersion", rayjob::kRayJobs.api_version()},
                 {"kind", rayjob::kRayJobs.kind},
                 {"metadata",
                  {{"name", run_name(spec, run)},
                   {"namespace", spec.key.namespace_name},
                   {"labels", {{kCronJobName, spec.key.name}}},
                   {"annotations", {{kScheduledTimestamp, format_rfc3339(run)}}},
                   {"ownerReferences", Json::array({spec.owner.to_json()})}}},
                 {"spec", spec.job_template == nullptr ? Json::object() : *spec.job_template}});
}

}  // namespace tpuslice::raycronjob
