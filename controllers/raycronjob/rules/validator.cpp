#include "controllers/raycronjob/rules/validator.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "controllers/raycluster/rules/ray_rules.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/raycronjob/rules/schedule.h"
#include "controllers/raycronjob/rules/time_zones.h"
#include "controllers/rayjob/rules/spec.h"
#include "controllers/rayjob/rules/validator.h"
#include "tpu/rules/field_shapes.h"

namespace tpuslice::raycronjob {
namespace {

using rules::FieldErrors;
using rules::kKubeRayRule;
using rules::kOurRule;

/// "<name>-<8 digits>", with room for more, must be a name of a RayJob.
constexpr std::size_t kMaxName = 36;
constexpr std::size_t kMaxWarning = 255;  // The API server cuts at 256.

constexpr auto kShapes = [] {
  using enum rules::FieldType;
  using rules::FieldShape;
  return std::array{
      FieldShape{.path = "spec", .type = kObject, .required = true},
      FieldShape{.path = "spec.schedule", .type = kString, .required = true},
      FieldShape{.path = "spec.timeZone", .type = kString},
      FieldShape{.path = "spec.suspend", .type = kBoolean},
      FieldShape{.path = "spec.jobTemplate", .type = kObject, .required = true},
  };
}();

/// Fields of a CronJob that upstream does not have. The API server drops them, unless another CRD is installed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kCronJobFields{
    {{"concurrencyPolicy", "runs may overlap"},
     {"startingDeadlineSeconds", "the last run that was missed always starts"},
     {"successfulJobsHistoryLimit", "use a deletion rule with the policy DeleteSelf in spec.jobTemplate"},
     {"failedJobsHistoryLimit", "use a deletion rule with the policy DeleteSelf in spec.jobTemplate"}}};

/// The RayJob of a run, without a name; null without a template.
Json rayjob_of(const Json& cron_job) {
  const Json* spec = find_set(cron_job, {"spec", "jobTemplate"});
  if (spec == nullptr || !spec->is_object()) return {};
  return {{"apiVersion", "ray.io/v1"},
          {"kind", rayjob::kRayJobs.kind},
          {"metadata", {{"namespace", string_at(cron_job, {"metadata", "namespace"})}}},
          {"spec", *spec}};
}

/// Paths in a text about the RayJob, as those of the RayCronJob: "spec.suspend" -> "spec.jobTemplate.suspend".
std::string below_template(std::string_view text) {
  constexpr std::string_view kSpec = "spec.";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    if (begins && text.substr(i).starts_with(kSpec)) {
      out += "spec.jobTemplate.";
      i += kSpec.size();
    } else {
      out += text[i++];
    }
  }
  return out;
}

void check_schedule(const Json& cron_job, FieldErrors& errors) {
  const Json* schedule = find_set(cron_job, {"spec", "schedule"});
  if (schedule == nullptr || !schedule->is_string()) return;
  const Result<Schedule> parsed = Schedule::parse(schedule->get_ref<const std::string&>());
  if (parsed.ok()) return;
  errors.push_back(
      rules::invalid_value("spec.schedule", *schedule, std::string(parsed.error().message()), kKubeRayRule));
}

void check_time_zone(const Json& cron_job, FieldErrors& errors) {
  const Json* name = find_set(cron_job, {"spec", "timeZone"});
  if (name == nullptr || !name->is_string()) return;
  if (name->get_ref<const std::string&>().empty()) {
    errors.push_back(rules::invalid_value(
        "spec.timeZone", *name, "must not be empty; omit it for the local time zone of the operator", kKubeRayRule));
    return;
  }
  const Result<cctz::time_zone> zone = find_time_zone(name->get_ref<const std::string&>());
  if (zone.ok()) return;
  errors.push_back(rules::invalid_value("spec.timeZone", *name, std::string(zone.error().message()), kKubeRayRule));
}

void check_object(const Json& cron_job, FieldErrors& errors) {
  rules::check_ray_name(cron_job, kMaxName, "RayJobs", errors);
  rules::check_shapes(cron_job, kShapes, kKubeRayRule, errors);
  check_schedule(cron_job, errors);
  check_time_zone(cron_job, errors);
  for (const auto& [field, advice] : kCronJobFields) {
    if (find_set(cron_job, {"spec", field}) == nullptr) continue;
    errors.push_back(rules::forbidden(fmt::format("spec.{}", field),
                                      fmt::format("RayCronJobs do not have this field of CronJobs: {}", advice),
                                      kOurRule));
  }
  const Json job = rayjob_of(cron_job);
  if (job.is_null()) return;
  for (rules::FieldError error : rules::validate_rayjob(job, nullptr)) {
    error.path = below_template(error.path);
    error.detail = below_template(error.detail);
    errors.push_back(std::move(error));
  }
}

bool deletes_itself(const Json& job) {
  const rayjob::RayJobSpec spec = rayjob::RayJobSpec::read(job);
  return std::ranges::any_of(
      spec.deletion, [](const rayjob::DeletionRule& rule) { return rule.policy == rayjob::DeletionPolicy::kSelf; });
}

}  // namespace

FieldErrors validate_raycronjob(const Json& cron_job, const Json* old) {
  rules::FieldCheck check_stored;
  if (old != nullptr) check_stored = [&](FieldErrors& errors) { check_object(*old, errors); };
  return rules::new_errors([&](FieldErrors& errors) { check_object(cron_job, errors); }, check_stored);
}

std::vector<std::string> warn_raycronjob(const Json& cron_job, const Json* old) {
  const Json job = rayjob_of(cron_job);
  if (job.is_null()) return {};
  std::vector<std::string> warnings;
  for (const std::string& warning : rules::warn_rayjob(job, nullptr)) warnings.push_back(below_template(warning));
  if (!string_at(job, {"spec", "jobId"}).empty() && rayjob::selects_cluster(job)) {
    warnings.emplace_back(
        "spec.jobTemplate.jobId: all runs have this submission ID, and Ray accepts it once on the selected cluster");
  }
  if (old == nullptr && !deletes_itself(job)) {
    warnings.emplace_back(
        "spec.jobTemplate.deletionStrategy: has no rule with the policy DeleteSelf, so the RayJobs of all runs are "
        "kept");
  }
  for (std::string& warning : warnings) warning = clip(std::move(warning), kMaxWarning - 3);
  return warnings;
}

std::vector<rules::UnsupportedField> unsupported_raycronjob_fields(const Json& cron_job) {
  const Json job = rayjob_of(cron_job);
  if (job.is_null()) return {};
  std::vector<rules::UnsupportedField> fields = rules::unsupported_rayjob_fields(job);
  for (rules::UnsupportedField& field : fields) {
    field.path = below_template(field.path);
    field.reason = below_template(field.reason);
  }
  return fields;
}

}  // namespace tpuslice::raycronjob
