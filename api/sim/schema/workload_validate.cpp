#include "api/sim/schema/builtin_checks.h"
#include "api/types/selector.h"

namespace tpuslice::sim {
namespace {

void not_negative(Problems& problems, const FieldPath& path, const Json& spec,
                  std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = spec.find(name);
    if (found != spec.end() && *found < Json(0)) {
      problems.invalid(path.member(name), *found, "must be greater than or equal to 0");
    }
  }
}

void immutable(Problems& problems, const FieldPath& path, const Json& spec, const Json& old,
               std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Json* before = find_path(old, {name});
    const Json* after = find_path(spec, {name});
    const Json was = before == nullptr ? Json() : *before;
    const Json is = after == nullptr ? Json() : *after;
    if (was != is) problems.invalid(path.member(name), is, "field is immutable");
  }
}

void check_template(Problems& problems, const FieldPath& path, const Json& pods,
                    const std::vector<std::string>& restart_policies) {
  check_metadata(problems, path.member("metadata"), map_at(pods, "metadata"));
  const FieldPath spec = path.member("spec");
  check_pod_spec(problems, spec, map_at(pods, "spec"));
  check_choice(problems, spec, map_at(pods, "spec"), "restartPolicy", restart_policies);
}

/// Of jobs, "Always" is no policy at all.
void check_job_template(Problems& problems, const FieldPath& path, const Json& pods) {
  check_template(problems, path, pods, {"Always", "OnFailure", "Never"});
  if (string_at(pods, {"spec", "restartPolicy"}, "Always") == "Always") {
    const FieldPath spec = path.member("spec");
    problems.required(spec.member("restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
  }
}

void check_selected(Problems& problems, const FieldPath& path, std::string_view kind, const Json& spec) {
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

/// What queueing systems may change in the template of a job that has not started.
Json without_scheduling(Json pods) {
  if (pods.contains("metadata") && pods["metadata"].is_object()) {
    pods["metadata"].erase("labels");
    pods["metadata"].erase("annotations");
    if (pods["metadata"].empty()) pods.erase("metadata");
  }
  for (const char* name : {"affinity", "nodeSelector", "tolerations", "schedulingGates"}) pods["spec"].erase(name);
  return pods;
}

void check_job_update(Problems& problems, const FieldPath& path, const Json& spec, const Json& old_job) {
  const Json& old = map_at(old_job, "spec");
  immutable(problems, path, spec, old,
            {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy"});
  const Json& now = map_at(spec, "template");
  const Json& before = map_at(old, "template");
  const bool waiting = bool_at(old, {"suspend"}) && find_path(old_job, {"status", "startTime"}) == nullptr;
  const bool same = waiting ? without_scheduling(now) == without_scheduling(before) : now == before;
  if (!same) problems.invalid(path.member("template"), now, "field is immutable");
  const Json* completions = find_path(spec, {"completions"});
  const Json* parallelism = find_path(spec, {"parallelism"});
  const bool elastic = string_at(spec, {"completionMode"}) == "Indexed" && completions != nullptr &&
                       parallelism != nullptr && *completions == *parallelism;
  if (!elastic) immutable(problems, path, spec, old, {"completions"});
}

void check_job(Problems& problems, const Json& job, const Json* old) {
  const FieldPath path("spec");
  const Json& spec = map_at(job, "spec");
  not_negative(problems, path, spec,
               {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
                "backoffLimitPerIndex", "maxFailedIndexes"});
  check_choice(problems, path, spec, "completionMode", {"NonIndexed", "Indexed"});
  check_choice(problems, path, spec, "podReplacementPolicy", {"Failed", "TerminatingOrFailed"});
  if (string_at(spec, {"completionMode"}) == "Indexed" && !spec.contains("completions")) {
    problems.required(path.member("completions"), "when completion mode is Indexed");
  }
  check_job_template(problems, path.member("template"), map_at(spec, "template"));
  if (old != nullptr) check_job_update(problems, path, spec, *old);
}

void check_stateful_set(Problems& problems, const Json& spec, const Json* old) {
  const FieldPath path("spec");
  not_negative(problems, path, spec, {"replicas", "minReadySeconds", "revisionHistoryLimit"});
  const std::string management = string_at(spec, {"podManagementPolicy"}, "OrderedReady");
  if (management != "OrderedReady" && management != "Parallel") {
    problems.invalid(path.member("podManagementPolicy"), management, "must be 'OrderedReady' or 'Parallel'");
  }
  check_choice(problems, path.member("updateStrategy"), map_at(spec, "updateStrategy"), "type",
               {"RollingUpdate", "OnDelete"});
  if (old == nullptr) return;
  Json before = map_at(*old, "spec");
  Json after = spec;
  for (const char* name : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                           "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    before.erase(name);
    after.erase(name);
  }
  if (before != after) {
    problems.forbidden(path,
                       "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                       "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                       "'minReadySeconds' are forbidden");
  }
}

void check_cron_job(Problems& problems, const Json& spec) {
  const FieldPath path("spec");
  if (string_at(spec, {"schedule"}).empty()) problems.required(path.member("schedule"));
  check_choice(problems, path, spec, "concurrencyPolicy", {"Allow", "Forbid", "Replace"});
  const Json& job = map_at(map_at(spec, "jobTemplate"), "spec");
  check_job_template(problems, path.member("jobTemplate").member("spec").member("template"), map_at(job, "template"));
}

}  // namespace

void check_workload(Problems& problems, std::string_view kind, const Json& object, const Json* old) {
  if (kind == "ControllerRevision") return;
  const FieldPath path("spec");
  const Json& spec = map_at(object, "spec");
  if (kind == "Job") return check_job(problems, object, old);
  if (kind == "CronJob") return check_cron_job(problems, spec);
  check_selected(problems, path, kind, spec);
  check_template(problems, path.member("template"), map_at(spec, "template"), {"Always"});
  if (kind == "StatefulSet") return check_stateful_set(problems, spec, old);
  not_negative(problems, path, spec,
               {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"});
  if (old != nullptr) immutable(problems, path, spec, map_at(*old, "spec"), {"selector"});
}

}  // namespace tpuslice::sim
