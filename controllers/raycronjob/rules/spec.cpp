#include "controllers/raycronjob/rules/spec.h"

namespace tpuslice::raycronjob {

RayCronJobSpec RayCronJobSpec::read(const Json& cron_job) {
  RayCronJobSpec out;
  out.key = {string_at(cron_job, {"metadata", "namespace"}), string_at(cron_job, {"metadata", "name"})};
  out.uid = string_at(cron_job, {"metadata", "uid"});
  out.generation = int_at(cron_job, {"metadata", "generation"});
  out.owner = {string_at(cron_job, {"apiVersion"}), string_at(cron_job, {"kind"}), out.key.name, out.uid};
  out.created = parse_rfc3339(string_at(cron_job, {"metadata", "creationTimestamp"}));
  const Json* spec = find_set(cron_job, {"spec"});
  if (spec == nullptr || !spec->is_object()) return out;
  out.schedule = string_at(*spec, {"schedule"});
  if (find_set(*spec, {"timeZone"}) != nullptr) out.time_zone = string_at(*spec, {"timeZone"});
  out.suspend = bool_at(*spec, {"suspend"});
  out.job_template = find_set(*spec, {"jobTemplate"});
  return out;
}

}  // namespace tpuslice::raycronjob
