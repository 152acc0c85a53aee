#include <map>
#include <string>

#include <fmt/format.h>
#include <re2/re2.h>

#include "api/base/strings.h"
#include "api/types/validation_names.h"
#include "controllers/jobset/rules/validator_parts.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

constexpr std::size_t kMaxRuleNameLength = 128;
/// Patterns of all rules. They are compiled whenever the object is validated.
constexpr std::size_t kMaxPatterns = 64;
/// Maximum bytes of a compiled pattern. One of some 1,000 characters fits.
constexpr std::int64_t kMaxPatternMemory = 256 << 10;
/// The status lists with restarts of single Jobs have at most this many elements.
constexpr std::int64_t kMaxRestartableJobs = 1024;

/// Names of replicated jobs.
void check_targets(const Json& policy, const std::string& path, const JobSetSpec& spec, Errors& errors) {
  const Json& targets = array_at(policy, {"targetReplicatedJobs"});
  for (std::size_t index = 0; index < targets.size(); ++index) {
    if (!targets[index].is_string() || spec.find(targets[index].get<std::string>()) != nullptr) continue;
    errors.add([&] {
      return invalid_value(fmt::format("{}.targetReplicatedJobs[{}]", path, index), targets[index],
                           "must be the name of a replicated job", kJobSetRule);
    });
  }
}

bool is_rule_character(char c) { return is_letter_or_digit(c) || c == '_'; }

/// Upstream's form: [A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?.
bool is_rule_name(std::string_view name) {
  if (name.empty() || !is_letter(name.front()) || !is_rule_character(name.back())) return false;
  for (const char c : name) {
    if (!is_rule_character(c) && c != ',' && c != ':') return false;
  }
  return true;
}

/// `names` holds the paths of earlier rules by name.
void check_rule_name(const std::string& name, const std::string& path, std::map<std::string, std::string>& names,
                     Errors& errors) {
  if (name.size() > kMaxRuleNameLength) {
    errors.add([&] {
      return invalid_value(path, name,
                           fmt::format("must be no more than {} characters, has {}", kMaxRuleNameLength, name.size()),
                           kJobSetRule);
    });
  }
  if (!is_rule_name(name)) {
    errors.add([&] {
      return invalid_value(path, name,
                           "must start with a letter, contain letters, digits, '_', ',' or ':', and end with a letter, "
                           "a digit or '_'",
                           kJobSetRule);
    });
  }
  const auto [earlier, is_new] = names.emplace(name, path);
  if (!is_new) {
    errors.add([&, &earlier = earlier] {
      return duplicate_value(path, name, kJobSetRule, fmt::format("{} is the same", earlier->second));
    });
  }
}

/// \C, any single byte, is valid in RE2 but not in Go's regexp. Between \Q and \E it is literal text.
bool has_byte_escape(std::string_view pattern) {
  bool quoted = false;
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
    if (pattern[at] != '\\') continue;
    const char escaped = pattern[at + 1];
    if (quoted) {
      quoted = escaped != 'E';
      if (quoted) continue;
    } else if (escaped == 'C') {
      return true;
    } else {
      quoted = escaped == 'Q';
    }
    ++at;
  }
  return false;
}

/// Upstream accepts any pattern, and skips an invalid one when a Job fails.
void check_patterns(const Json& rule, const std::string& path, Errors& errors) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  const Json& patterns = array_at(rule, {"onJobFailureMessagePatterns"});
  for (std::size_t index = 0; index < patterns.size(); ++index) {
    if (!patterns[index].is_string()) continue;
    const auto& text = patterns[index].get_ref<const std::string&>();
    const RE2 pattern(text, options);
    std::string error = pattern.ok() ? "" : pattern.error();
    if (error.empty() && has_byte_escape(text)) error = "invalid escape sequence: \\C";
    if (error.empty()) continue;
    errors.push_back(invalid_value(fmt::format("{}.onJobFailureMessagePatterns[{}]", path, index), patterns[index],
                                   fmt::format("is not a valid RE2 regular expression: {}", clip(error, 100)),
                                   kOurRule));
  }
}

void check_failure_policy(const Json& policy, const JobSetSpec& spec, Errors& errors) {
  const std::string path = "spec.failurePolicy";
  const Json& rules = array_at(policy, {"rules"});
  std::map<std::string, std::string> names;
  std::size_t patterns = 0;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Json& rule = rules[index];
    if (!rule.is_object()) continue;
    patterns += array_at(rule, {"onJobFailureMessagePatterns"}).size();
    if (patterns > kMaxPatterns) {
      errors.push_back(too_many(fmt::format("{}.rules[{}].onJobFailureMessagePatterns", path, index), patterns,
                                kMaxPatterns, kOurRule));
      return;
    }
    const std::string rule_path = fmt::format("{}.rules[{}]", path, index);
    check_rule_name(spec.failure->rules[index].name, rule_path + ".name", names, errors);
    check_targets(rule, rule_path, spec, errors);
    check_patterns(rule, rule_path, errors);
  }
  for (const ReplicatedJob& job : spec.jobs) {
    if (!spec.failure->restarts_single_jobs() || job.replicas <= kMaxRestartableJobs) continue;
    errors.push_back(invalid_value(
        job.path + ".replicas", job.replicas,
        fmt::format("must be no more than {} if the failure policy restarts single Jobs", kMaxRestartableJobs),
        kJobSetRule));
  }
}

void check_startup_policy(const JobSetSpec& spec, Errors& errors) {
  if (!spec.in_order) return;
  for (const ReplicatedJob& job : spec.jobs) {
    if (find_set(*job.json, {"dependsOn"}) == nullptr) continue;
    errors.push_back(invalid_value(
        "spec.startupPolicy.startupPolicyOrder", "InOrder",
        fmt::format("cannot be combined with {}.dependsOn; remove startupPolicy and set the order with dependsOn",
                    job.path),
        kJobSetRule));
    return;
  }
}

/// Whether the index at `field` is below `count`; `reason` says where the count comes from.
bool check_index(const Json& coordinator, std::string_view field, std::int64_t count, const std::string& reason,
                 Errors& errors) {
  const Json* found = find_set(coordinator, {field});
  if (found != nullptr && !found->is_number_integer()) return false;  // A schema error.
  const auto index = found == nullptr ? std::optional<std::int64_t>(0) : int32_at(*found, {});
  if (index && *index >= 0 && *index < count) return true;
  errors.push_back(invalid_value(
      fmt::format("spec.coordinator.{}", field), found == nullptr ? Json(0) : *found,
      count > 0 ? fmt::format("must be between 0 and {}, inclusive: {}", count - 1, reason) : reason, kJobSetRule));
  return false;
}

void check_coordinator(const Json& jobset, const Json& coordinator, const JobSetSpec& spec, Errors& errors) {
  const Json* name = find_set(coordinator, {"replicatedJob"});
  if (name == nullptr || !name->is_string()) return;
  const std::string path = "spec.coordinator.replicatedJob";
  const ReplicatedJob* job = spec.find(name->get<std::string>());
  if (job == nullptr) {
    errors.push_back(invalid_value(path, *name, "must be the name of a replicated job", kJobSetRule));
    return;
  }
  bool valid =
      check_index(coordinator, "jobIndex", job->replicas,
                  fmt::format("{} has {} replica{}", job->path, job->replicas, job->replicas == 1 ? "" : "s"), errors);
  if (!job->indexed) {
    errors.push_back(invalid_value(
        path, *name,
        fmt::format("pods of {} have no index; set {}: Indexed", job->path, job->job_path("completionMode")),
        kJobSetRule));
    return;
  }
  const auto completions = int32_at(*job->json, {"template", "spec", "completions"});
  if (!completions) {
    errors.push_back(required_value(job->job_path("completions"),
                                    "spec.coordinator.podIndex is one of this number of pods", kJobSetRule));
    return;
  }
  valid = check_index(coordinator, "podIndex", *completions,
                      fmt::format("{} has {} pod{}", job->path, *completions, *completions == 1 ? "" : "s"), errors) &&
          valid;
  const std::string jobset_name = longest_jobset_name(jobset);
  if (!valid || jobset_name.empty()) return;
  const std::string subdomain = string_at(jobset, {"spec", "network", "subdomain"});
  const std::string endpoint =
      fmt::format("{}-{}-{}-{}.{}", jobset_name, job->name, int32_at(coordinator, {"jobIndex"}).value_or(0),
                  int32_at(coordinator, {"podIndex"}).value_or(0), subdomain.empty() ? jobset_name : subdomain);
  for (const std::string& detail : check_label_value(endpoint)) {
    errors.push_back(
        invalid_value(path, *name,
                      fmt::format("the address of the coordinator, {}, is a label value: {}; shorten the names "
                                  "of the JobSet, of the replicated job or of the subdomain",
                                  clip(endpoint, 200), detail),
                      kJobSetRule));
  }
}

}  // namespace

void check_jobset_policies(const Json& jobset, const JobSetSpec& spec, Errors& errors) {
  if (const Json* policy = find_set(jobset, {"spec", "successPolicy"}); policy != nullptr) {
    check_targets(*policy, "spec.successPolicy", spec, errors);
  }
  if (const Json* policy = find_set(jobset, {"spec", "failurePolicy"}); policy != nullptr) {
    check_failure_policy(*policy, spec, errors);
  }
  check_startup_policy(spec, errors);
  if (const Json* coordinator = find_set(jobset, {"spec", "coordinator"}); coordinator != nullptr) {
    check_coordinator(jobset, *coordinator, spec, errors);
  }
}

}  // namespace tpuslice::rules
