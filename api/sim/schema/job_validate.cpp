// What the API server refuses of Jobs.
#include <algorithm>

#include <fmt/format.h>

#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/workload_checks.h"
#include "api/types/selector.h"

namespace tpuslice::sim {
namespace {

constexpr std::int64_t kMostIndexes = 100'000;  ///< That may run at a time, or fail.
constexpr std::int64_t kMostOfMany = 10'000;    ///< The same where there are more than kMostIndexes completions.
constexpr std::size_t kLongestManager = 63;

bool is_indexed(const Json& spec) { return string_at(spec, {"completionMode"}) == "Indexed"; }

void at_most(Problems& problems, const FieldPath& path, const Json& spec, const char* name, std::int64_t most,
             std::string_view when) {
  if (int_at(spec, {name}) <= most) return;
  problems.invalid(path.member(name), spec.at(name), fmt::format("must be less than or equal to {}{}", most, when));
}

void check_indexed(Problems& problems, const FieldPath& path, const Json& spec) {
  if (!spec.contains("completions")) {
    problems.required(path.member("completions"), "when completion mode is Indexed");
  }
  at_most(problems, path, spec, "parallelism", kMostIndexes, " when completion mode is Indexed");
  if (!spec.contains("completions")) return;
  const std::int64_t completions = int_at(spec, {"completions"});
  if (int_at(spec, {"maxFailedIndexes"}) > completions) {
    problems.invalid(path.member("maxFailedIndexes"), spec.at("maxFailedIndexes"),
                     "must be less than or equal to completions");
  }
  at_most(problems, path, spec, "maxFailedIndexes", kMostIndexes, "");
  if (completions <= kMostIndexes || !spec.contains("backoffLimitPerIndex")) return;
  if (!spec.contains("maxFailedIndexes")) {
    problems.required(path.member("maxFailedIndexes"),
                      fmt::format("must be specified when completions is above {}", kMostIndexes));
  }
  const std::string when =
      fmt::format(" when completions are above {} and used with backoff limit per index", kMostIndexes);
  at_most(problems, path, spec, "parallelism", kMostOfMany, when);
  at_most(problems, path, spec, "maxFailedIndexes", kMostOfMany, when);
}

void check_completion_mode(Problems& problems, const FieldPath& path, const Json& spec) {
  check_choice(problems, path, spec, "completionMode", {"NonIndexed", "Indexed"});
  if (is_indexed(spec)) return check_indexed(problems, path, spec);
  if (string_at(spec, {"completionMode"}, "NonIndexed") != "NonIndexed") return;
  for (const char* name : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec.contains(name)) problems.invalid(path.member(name), spec.at(name), "requires indexed completion mode");
  }
}

void check_manager(Problems& problems, const FieldPath& path, const Json& spec) {
  if (!spec.contains("managedBy")) return;
  const std::string manager = string_at(spec, {"managedBy"});
  const FieldPath member = path.member("managedBy");
  const std::size_t slash = manager.find('/');
  if (manager.empty()) {
    problems.required(member);
  } else if (slash == std::string::npos || slash == 0 || slash + 1 == manager.size()) {
    problems.invalid(member, manager, "must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  if (manager.size() > kLongestManager) {
    problems.add(member, "FieldValueTooLong", "Too long",
                 fmt::format("may not be more than {} bytes", kLongestManager));
  }
}

/// The labels by which the server lets a Job find its pods cannot be anything else.
void check_generated_labels(Problems& problems, const Json& job) {
  const Json& spec = map_at(job, "spec");
  const std::string uid = string_at(job, {"metadata", "uid"});
  if (bool_at(spec, {"manualSelector"}) || !spec.contains("selector") || uid.empty()) return;
  const std::string name = string_at(job, {"metadata", "name"});
  const FieldPath path("spec.template.metadata.labels");
  const StringMap labels = string_map_at(spec, {"template", "metadata", "labels"});
  const std::initializer_list<std::pair<const char*, const std::string&>> expected = {
      {"controller-uid", uid},
      {"job-name", name},
      {"batch.kubernetes.io/controller-uid", uid},
      {"batch.kubernetes.io/job-name", name}};
  StringMap generated;
  for (const auto& [key, value] : expected) {
    generated[key] = value;
    const auto found = labels.find(key);
    if (found == labels.end()) {
      problems.required(path.key(key), fmt::format("must be '{}'", value));
    } else if (found->second != value) {
      problems.invalid(path.key(key), Json(labels), fmt::format("must be '{}'", value));
    }
  }
  const Result<LabelSelector> selector = LabelSelector::from_json(map_at(spec, "selector"));
  if (selector && !selector->matches(generated)) {
    problems.invalid(FieldPath("spec.selector"), map_at(spec, "selector"), "`selector` not auto-generated");
  }
}

void check_selector(Problems& problems, const FieldPath& path, const Json& spec) {
  if (!spec.contains("selector")) return problems.required(path.member("selector"));
  check_label_selector(problems, path.member("selector"), map_at(spec, "selector"));
  const Result<LabelSelector> selector = LabelSelector::from_json(map_at(spec, "selector"));
  const StringMap labels = string_map_at(spec, {"template", "metadata", "labels"});
  if (selector && !selector->matches(labels)) {
    problems.invalid(path.member("template").member("metadata").member("labels"), Json(labels),
                     "`selector` does not match template `labels`");
  }
}

/// Pods of Indexed Jobs are named after it, and so are their hosts.
void check_hostnames(Problems& problems, const Json& job) {
  const Json& spec = map_at(job, "spec");
  if (!is_indexed(spec) || int_at(spec, {"completions"}) <= 0) return;
  const std::string name = string_at(job, {"metadata", "name"});
  const std::string last = fmt::format("{}-{}", name, int_at(spec, {"completions"}) - 1);
  if (check_dns1123_label(last).empty()) return;
  problems.invalid(FieldPath("metadata.name"), name,
                   fmt::format("will not able to create pod with invalid DNS label: {}", last));
}

/// A pod spec without what may change while the Job is suspended and no pod of it runs.
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

bool at_rest(const Json& job) {
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
  if (!at_rest(old_job)) {
    if (now != before) problems.invalid(path.member("template"), now, "field is immutable");
  } else if (without_placement(map_at(now, "spec")) != without_placement(map_at(before, "spec"))) {
    problems.invalid(path.member("template").member("spec"), map_at(now, "spec"), "field is immutable");
  }
}

void check_job_update(Problems& problems, const FieldPath& path, const Json& spec, const Json& old_job) {
  const Json& old = map_at(old_job, "spec");
  if (!is_indexed(spec)) {
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

void check_job_template(Problems& problems, const FieldPath& path, const Json& pods) {
  check_pod_template(problems, path, pods, {"Always", "OnFailure", "Never"});
  // "Always" is what was said by saying nothing.
  if (string_at(pods, {"spec", "restartPolicy"}, "Always") == "Always") {
    const FieldPath spec = path.member("spec");
    problems.required(spec.member("restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
  }
}

void check_job(Problems& problems, const Json& job, const Json* old) {
  const FieldPath path("spec");
  const Json& spec = map_at(job, "spec");
  check_generated_labels(problems, job);
  check_not_negative(problems, path, spec,
                     {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
                      "backoffLimitPerIndex", "maxFailedIndexes"});
  if (spec.contains("maxFailedIndexes") && !spec.contains("backoffLimitPerIndex")) {
    problems.required(path.member("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  check_manager(problems, path, spec);
  check_completion_mode(problems, path, spec);
  check_job_policies(problems, path, spec);
  if (spec.contains("podFailurePolicy")) {
    check_choice(problems, path, spec, "podReplacementPolicy", {"Failed"});
  } else {
    check_choice(problems, path, spec, "podReplacementPolicy", {"Failed", "TerminatingOrFailed"});
  }
  check_job_template(problems, path.member("template"), map_at(spec, "template"));
  if (spec.contains("podFailurePolicy") && string_at(spec, {"template", "spec", "restartPolicy"}) == "OnFailure") {
    const FieldPath pods = path.member("template");
    const FieldPath pod_spec = pods.member("spec");
    problems.invalid(pod_spec.member("restartPolicy"), "OnFailure",
                     "only \"Never\" is supported when podFailurePolicy is specified");
  }
  // What cannot be changed is not checked once more.
  if (old == nullptr) check_selector(problems, path, spec);
  check_hostnames(problems, job);
  if (old == nullptr) return;
  check_job_update(problems, path, spec, *old);
  check_job_status(problems, job, *old);
}

}  // namespace tpuslice::sim
