// Jobs: generated labels and selector, immutable fields.
#include <algorithm>

#include <fmt/format.h>

#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/schema/builtin_checks.h"

namespace tpuslice::sim {
namespace {

void check_generated_labels(Problems& problems, const Json& job) {
  const Json& spec = map_at(job, "spec");
  const std::string uid = string_at(job, {"metadata", "uid"});
  if (bool_at(spec, {"manualSelector"}) || uid.empty()) return;
  const std::string name = string_at(job, {"metadata", "name"});
  const FieldPath path("spec.template.metadata.labels");
  const StringMap labels = string_map_at(spec, {"template", "metadata", "labels"});
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    for (const auto& [key, value] : {std::pair{fmt::format("{}controller-uid", prefix), uid},
                                     std::pair{fmt::format("{}job-name", prefix), name}}) {
      const auto found = labels.find(key);
      if (found == labels.end()) {
        problems.required(path.key(key), fmt::format("must be '{}'", value));
      } else if (found->second != value) {
        problems.invalid(path.key(key), Json(labels), fmt::format("must be '{}'", value));
      }
    }
  }
}

/// A pod spec without the fields that may change while the Job is suspended and none of its pods runs.
Json without_placement(Json spec) {
  for (const char* name : {"nodeSelector", "tolerations", "schedulingGates"}) spec.erase(name);
  if (spec.contains("affinity") && spec["affinity"].is_object()) {
    spec["affinity"].erase("nodeAffinity");
    if (spec["affinity"].empty()) spec.erase("affinity");
  }
  for (const char* kind : {"containers", "initContainers"}) {
    if (!spec.contains(kind) || !spec[kind].is_array()) continue;
    for (Json& container : spec[kind]) container.erase("resources");
  }
  return spec;
}

/// Suspended, and no pod was started or all of them were deleted.
bool is_inactive(const Json& job) {
  const Json& conditions = array_at(job, {"status", "conditions"});
  const bool suspended = std::any_of(conditions.begin(), conditions.end(), [](const Json& each) {
    return string_at(each, {"type"}) == "Suspended" && string_at(each, {"status"}) == "True";
  });
  return bool_at(job, {"spec", "suspend"}) && int_at(job, {"status", "active"}) == 0 &&
         (suspended || find_path(job, {"status", "startTime"}) == nullptr);
}

void check_template_update(Problems& problems, const FieldPath& path, const Json& spec, const Json& old_job) {
  const Json& now = map_at(spec, "template");
  const Json& before = map_at(map_at(old_job, "spec"), "template");
  if (!is_inactive(old_job)) {
    if (now != before) problems.invalid(path.member("template"), now, "field is immutable");
  } else if (without_placement(map_at(now, "spec")) != without_placement(map_at(before, "spec"))) {
    problems.invalid(path.member("template").member("spec"), map_at(now, "spec"), "field is immutable");
  }
}

void check_job_update(Problems& problems, const Json& spec, const Json& old_job) {
  const FieldPath path("spec");
  const Json& old = map_at(old_job, "spec");
  if (string_at(spec, {"completionMode"}) != "Indexed") {
    check_immutable(problems, path, spec, old, {"completions"});
  } else if (spec.contains("completions") && int_at(spec, {"completions"}) != int_at(old, {"completions"}) &&
             int_at(spec, {"completions"}) != int_at(spec, {"parallelism"})) {
    problems.invalid(path.member("completions"), spec.at("completions"),
                     "can only be modified in tandem with spec.parallelism");
  }
  check_immutable(problems, path, spec, old, {"selector"});
  check_template_update(problems, path, spec, old_job);
  check_immutable(problems, path, spec, old,
                  {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"});
}

}  // namespace

void check_job(Problems& problems, const Json& job, const Json* old) {
  const Json& spec = map_at(job, "spec");
  check_generated_labels(problems, job);
  if (old == nullptr) {
    check_selector(problems, spec);
  } else {
    check_job_update(problems, spec, *old);
  }
}

}  // namespace tpuslice::sim
