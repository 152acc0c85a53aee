#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/workload_checks.h"
#include "api/types/selector.h"

namespace tpuslice::sim {
namespace {

void check_cron_job(Problems& problems, const Json& spec) {
  const FieldPath path("spec");
  if (string_at(spec, {"schedule"}).empty()) problems.required(path.member("schedule"));
  check_choice(problems, path, spec, "concurrencyPolicy", {"Allow", "Forbid", "Replace"});
  const Json& job = map_at(map_at(spec, "jobTemplate"), "spec");
  check_job_template(problems, path.member("jobTemplate").member("spec").member("template"), map_at(job, "template"));
}

}  // namespace

void check_selector(Problems& problems, const FieldPath& path, std::string_view kind, const Json& spec) {
  const Json& selector = map_at(spec, "selector");
  const FieldPath selector_path = path.member("selector");
  check_label_selector(problems, selector_path, selector);
  if (map_at(selector, "matchLabels").empty() && list_at(selector, "matchExpressions").empty()) {
    std::string name(kind);
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return problems.invalid(selector_path, selector, "empty selector is invalid for " + name);
  }
  const Result<LabelSelector> parsed = LabelSelector::from_json(selector);
  const StringMap labels = string_map_at(spec, {"template", "metadata", "labels"});
  if (parsed && !parsed->matches(labels)) {
    problems.invalid(path.member("template").member("metadata").member("labels"), Json(labels),
                     "`selector` does not match template `labels`");
  }
}

void check_not_negative(Problems& problems, const FieldPath& path, const Json& spec,
                        std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = spec.find(name);
    if (found != spec.end() && *found < Json(0)) {
      problems.invalid(path.member(name), *found, "must be greater than or equal to 0");
    }
  }
}

void check_immutable(Problems& problems, const FieldPath& path, const Json& spec, const Json& old,
                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Json* before = find_path(old, {name});
    const Json* after = find_path(spec, {name});
    const Json was = before == nullptr ? Json() : *before;
    const Json is = after == nullptr ? Json() : *after;
    if (was != is) problems.invalid(path.member(name), is, "field is immutable");
  }
}

void check_pod_template(Problems& problems, const FieldPath& path, const Json& pods,
                        const std::vector<std::string>& restart_policies) {
  check_metadata(problems, path.member("metadata"), map_at(pods, "metadata"));
  const FieldPath spec = path.member("spec");
  check_pod_spec(problems, spec, map_at(pods, "spec"));
  check_choice(problems, spec, map_at(pods, "spec"), "restartPolicy", restart_policies);
}

void check_workload(Problems& problems, std::string_view kind, const Json& object, const Json* old) {
  if (kind == "ControllerRevision") return check_revision(problems, object, old);
  if (kind == "StatefulSet") return check_stateful_set(problems, object, old);
  const FieldPath path("spec");
  const Json& spec = map_at(object, "spec");
  if (kind == "Job") return check_job(problems, object, old);
  if (kind == "CronJob") return check_cron_job(problems, spec);
  check_selector(problems, path, kind, spec);
  check_pod_template(problems, path.member("template"), map_at(spec, "template"), {"Always"});
  check_not_negative(problems, path, spec,
                     {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"});
  if (old != nullptr) check_immutable(problems, path, spec, map_at(*old, "spec"), {"selector"});
}

}  // namespace tpuslice::sim
