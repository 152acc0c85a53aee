#include <map>
#include <string>

#include <fmt/format.h>
#include <re2/re2.h>

#include "api/types/validation_names.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/jobset/rules.h"

namespace tpuslice::webhook {
namespace {

using Errors = std::vector<FieldError>;
using Jobs = std::vector<ReplicatedJob>;

constexpr std::size_t kLongestRuleName = 128;
/// Restarts of single Jobs are counted in a status list of so many elements.
constexpr std::int64_t kMostRestartableJobs = 1024;

/// A list of names of replicated jobs.
void check_targets(const Json& policy, const std::string& path, const Jobs& jobs, Errors& errors) {
  const Json& targets = array_at(policy, {"targetReplicatedJobs"});
  for (std::size_t index = 0; index < targets.size(); ++index) {
    if (!targets[index].is_string() || find_job(jobs, targets[index].get<std::string>()) != nullptr) continue;
    errors.push_back(invalid_value(fmt::format("{}.targetReplicatedJobs[{}]", path, index), targets[index],
                                   "must be the name of a replicated job", kJobSetRule));
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_rule_character(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

/// Of upstream's form [A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?.
bool is_rule_name(std::string_view name) {
  if (name.empty() || !is_letter(name.front()) || !is_rule_character(name.back())) return false;
  for (const char c : name) {
    if (!is_rule_character(c) && c != ',' && c != ':') return false;
  }
  return true;
}

/// `names` holds the paths of those before.
void check_rule_name(const std::string& name, const std::string& path, std::map<std::string, std::string>& names,
                     Errors& errors) {
  if (name.size() > kLongestRuleName) {
    errors.push_back(invalid_value(
        path, name, fmt::format("has {} characters, at most {} are allowed", name.size(), kLongestRuleName),
        kJobSetRule));
  }
  if (!is_rule_name(name)) {
    errors.push_back(invalid_value(path, name,
                                   "must start with a letter, go on with letters, digits, '_', ',' or ':', and end "
                                   "with a letter, a digit or '_'",
                                   kJobSetRule));
  }
  const auto [earlier, is_new] = names.emplace(name, path);
  if (!is_new) {
    errors.push_back(
        invalid_value(path, name, fmt::format("names are unique, {} is the same", earlier->second), kJobSetRule));
  }
}

/// RE2 knows \C, any single byte, and Go's regexp does not. Between \Q and \E it is text.
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

/// Upstream takes any pattern, and skips a bad one when a Job has failed.
void check_patterns(const Json& rule, const std::string& path, Errors& errors) {
  RE2::Options options;
  options.set_log_errors(false);
  const Json& patterns = array_at(rule, {"onJobFailureMessagePatterns"});
  for (std::size_t index = 0; index < patterns.size(); ++index) {
    if (!patterns[index].is_string()) continue;
    const auto& text = patterns[index].get_ref<const std::string&>();
    const RE2 pattern(text, options);
    std::string complaint = pattern.ok() ? "" : pattern.error();
    if (complaint.empty() && has_byte_escape(text)) complaint = "invalid escape sequence: \\C";
    if (complaint.empty()) continue;
    errors.push_back(invalid_value(fmt::format("{}.onJobFailureMessagePatterns[{}]", path, index), patterns[index],
                                   fmt::format("is no regular expression of RE2: {}", clip(complaint, 100)), kOurRule));
  }
}

bool restarts_single_jobs(const Json& rule) {
  const std::string action = string_at(rule, {"action"});
  return action == "RestartJob" || action == "RestartJobAndIgnoreMaxRestarts";
}

void check_failure_policy(const Json& policy, const Jobs& jobs, Errors& errors) {
  const std::string path = "spec.failurePolicy";
  const Json& rules = array_at(policy, {"rules"});
  std::map<std::string, std::string> names;
  bool single_jobs = false;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Json& rule = rules[index];
    if (!rule.is_object()) continue;
    const std::string rule_path = fmt::format("{}.rules[{}]", path, index);
    const std::string name = string_at(rule, {"name"});
    check_rule_name(name.empty() ? default_rule_name(index) : name, rule_path + ".name", names, errors);
    check_targets(rule, rule_path, jobs, errors);
    check_patterns(rule, rule_path, errors);
    single_jobs = single_jobs || restarts_single_jobs(rule);
  }
  for (const ReplicatedJob& job : jobs) {
    if (!single_jobs || job.replicas <= kMostRestartableJobs) continue;
    errors.push_back(
        invalid_value(job.path + ".replicas", job.replicas,
                      fmt::format("a failure policy that restarts single Jobs allows at most {}", kMostRestartableJobs),
                      kJobSetRule));
  }
}

void check_startup_policy(const Json& jobset, const Jobs& jobs, Errors& errors) {
  if (string_at(jobset, {"spec", "startupPolicy", "startupPolicyOrder"}) != "InOrder") return;
  for (const ReplicatedJob& job : jobs) {
    if (find_set(*job.json, {"dependsOn"}) == nullptr) continue;
    errors.push_back(invalid_value(
        "spec.startupPolicy.startupPolicyOrder", "InOrder",
        fmt::format("excludes {}.dependsOn; leave startupPolicy out and say the order with dependsOn", job.path),
        kJobSetRule));
    return;
  }
}

/// Whether the index at `field` is one of `count`; `what` has so many.
bool check_index(const Json& coordinator, std::string_view field, std::int64_t count, const std::string& what,
                 Errors& errors) {
  const Json* found = find_set(coordinator, {field});
  if (found != nullptr && !found->is_number_integer()) return false;  // The schema says so.
  const auto index = found == nullptr ? std::optional<std::int64_t>(0) : int_at(*found, {});
  if (index && *index >= 0 && *index < count) return true;
  errors.push_back(invalid_value(fmt::format("spec.coordinator.{}", field), found == nullptr ? Json(0) : *found,
                                 count > 0 ? fmt::format("{}; must be from 0 to {}", what, count - 1) : what,
                                 kJobSetRule));
  return false;
}

void check_coordinator(const Json& jobset, const Json& coordinator, const Jobs& jobs, Errors& errors) {
  const Json* name = find_set(coordinator, {"replicatedJob"});
  if (name == nullptr || !name->is_string()) return;
  const std::string path = "spec.coordinator.replicatedJob";
  const ReplicatedJob* job = find_job(jobs, name->get<std::string>());
  if (job == nullptr) {
    errors.push_back(invalid_value(path, *name, "must be the name of a replicated job", kJobSetRule));
    return;
  }
  bool good =
      check_index(coordinator, "jobIndex", job->replicas,
                  fmt::format("{} has {} replica{}", job->path, job->replicas, job->replicas == 1 ? "" : "s"), errors);
  if (!job->indexed) {
    errors.push_back(invalid_value(
        path, *name,
        fmt::format("pods of {} have no index; set {}: Indexed", job->path, job->job_path("completionMode")),
        kJobSetRule));
    return;
  }
  const auto completions = int_at(*job->json, {"template", "spec", "completions"});
  if (!completions) {
    errors.push_back(
        required_value(job->job_path("completions"), "the coordinator is one of so many pods", kJobSetRule));
    return;
  }
  good = check_index(coordinator, "podIndex", *completions, fmt::format("{} has {} pods", job->path, *completions),
                     errors) &&
         good;
  const std::string jobset_name = longest_jobset_name(jobset);
  if (!good || jobset_name.empty()) return;
  const std::string subdomain = string_at(jobset, {"spec", "network", "subdomain"});
  const std::string endpoint =
      fmt::format("{}-{}-{}-{}.{}", jobset_name, job->name, int_at(coordinator, {"jobIndex"}).value_or(0),
                  int_at(coordinator, {"podIndex"}).value_or(0), subdomain.empty() ? jobset_name : subdomain);
  for (const std::string& complaint : check_label_value(endpoint)) {
    errors.push_back(invalid_value(path, *name,
                                   fmt::format("the coordinator's address, {}, becomes a label: {}; shorten the names "
                                               "of the JobSet, of the replicated job or of the subdomain",
                                               clip(endpoint, 200), complaint),
                                   kJobSetRule));
  }
}

}  // namespace

void check_jobset_policies(const Json& jobset, const Jobs& jobs, Errors& errors) {
  if (const Json* policy = find_set(jobset, {"spec", "successPolicy"}); policy != nullptr) {
    check_targets(*policy, "spec.successPolicy", jobs, errors);
  }
  if (const Json* policy = find_set(jobset, {"spec", "failurePolicy"}); policy != nullptr) {
    check_failure_policy(*policy, jobs, errors);
  }
  check_startup_policy(jobset, jobs, errors);
  if (const Json* coordinator = find_set(jobset, {"spec", "coordinator"}); coordinator != nullptr) {
    check_coordinator(jobset, *coordinator, jobs, errors);
  }
}

}  // namespace tpuslice::webhook
