#include "cmd/tpu-slice-sim/cluster/jobs/job_policies.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/backoff.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_pods.h"

namespace tpuslice::sim {

namespace {

constexpr Duration kInitialPodBackOff = std::chrono::seconds(10);
constexpr Duration kMaxPodBackOff = std::chrono::minutes(10);

/// The container that the requirement matches; init containers come last.
const Json* exited_container(const Json& pod, const Json& requirement) {
  const std::string wanted = string_at(requirement, {"containerName"});
  const Json& values = array_at(requirement, {"values"});
  const bool listed = string_at(requirement, {"operator"}) == "In";
  for (const char* kind : {"containerStatuses", "initContainerStatuses"}) {
    for (const Json& status : array_at(pod, {"status", kind})) {
      if (!wanted.empty() && string_at(status, {"name"}) != wanted) continue;
      const std::int64_t code = int_at(status, {"state", "terminated", "exitCode"});
      if (code == 0) continue;
      if ((std::find(values.begin(), values.end(), Json(code)) != values.end()) == listed) return &status;
    }
  }
  return nullptr;
}

/// The type of the first condition that a pattern matches.
std::string matching_condition(const Json& pod, const Json& patterns) {
  for (const Json& condition : array_at(pod, {"status", "conditions"})) {
    std::string type = string_at(condition, {"type"});
    for (const Json& pattern : patterns) {
      if (type != string_at(pattern, {"type"})) continue;
      if (string_at(condition, {"status"}) == string_at(pattern, {"status"}, "True")) return type;
    }
  }
  return {};
}

/// The message of the Job's condition if the rule at `position` matches.
std::optional<std::string> why_matches(const Json& rule, std::size_t position, const Json& pod) {
  const std::string name =
      fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}), string_at(pod, {"metadata", "name"}));
  const std::string place = fmt::format("matching {} rule at index {}", string_at(rule, {"action"}), position);
  if (const Json* codes = find_path(rule, {"onExitCodes"})) {
    const Json* status = exited_container(pod, *codes);
    if (status == nullptr) return std::nullopt;
    return fmt::format("Container {} for pod {} failed with exit code {} {}", string_at(*status, {"name"}), name,
                       int_at(*status, {"state", "terminated", "exitCode"}), place);
  }
  const std::string type = matching_condition(pod, array_at(rule, {"onPodConditions"}));
  if (type.empty()) return std::nullopt;
  return fmt::format("Pod {} has condition {} {}", name, type, place);
}

bool success_rule_holds(const Json& rule, const IndexSet& succeeded, int completions) {
  const Json* count = find_path(rule, {"succeededCount"});
  const int wanted = static_cast<int>(int_at(rule, {"succeededCount"}));
  if (find_path(rule, {"succeededIndexes"}) == nullptr) return count != nullptr && succeeded.size() >= wanted;
  const IndexSet indexes = IndexSet::parse(string_at(rule, {"succeededIndexes"}), completions);
  if (indexes.size() == 0) return false;
  return succeeded.common_with(indexes) >= (count == nullptr ? indexes.size() : wanted);
}

std::vector<Timestamp> ends_of(const std::vector<JsonPtr>& pods) {
  std::vector<Timestamp> out;
  out.reserve(pods.size());
  for (const JsonPtr& pod : pods) out.push_back(finished_at(*pod));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

FailurePolicyResult apply_failure_policy(const Json& job, const Json& pod) {
  const Json& rules = array_at(job, {"spec", "podFailurePolicy", "rules"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::optional<std::string> why = why_matches(rules[i], i, pod);
    if (!why) continue;
    const std::string action = string_at(rules[i], {"action"});
    FailurePolicyResult ruling{.counts = action != "Ignore", .fails_index = action == "FailIndex"};
    if (action == "FailJob") ruling.fails_job = why;
    return ruling;
  }
  return {};
}

std::optional<std::string> satisfied_success_rule(const Json& job, const IndexSet& succeeded) {
  const Json& rules = array_at(job, {"spec", "successPolicy", "rules"});
  const int completions = static_cast<int>(int_at(job, {"spec", "completions"}));
  if (succeeded.size() == 0) return std::nullopt;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (success_rule_holds(rules[i], succeeded, completions)) return fmt::format("Matched rules at index {}", i);
  }
  return std::nullopt;
}

Duration pod_back_off(int failures) { return exponential_backoff(failures, kInitialPodBackOff, kMaxPodBackOff); }

void FailureStreak::record(const std::vector<JsonPtr>& succeeded, const std::vector<JsonPtr>& failed) {
  std::vector<Timestamp> failures = ends_of(failed);
  if (!succeeded.empty()) {
    failures_ = 0;
    const Timestamp success = ends_of(succeeded).back();
    failures.erase(failures.begin(), std::upper_bound(failures.begin(), failures.end(), success));
  }
  if (failures.empty()) return;
  failures_ += static_cast<int>(failures.size());
  last_ = failures.back();
}

Duration FailureStreak::remaining(Timestamp now) const {
  if (failures_ == 0) return {};
  return std::max(Duration{}, pod_back_off(failures_) - (now - last_));
}

}  // namespace tpuslice::sim
