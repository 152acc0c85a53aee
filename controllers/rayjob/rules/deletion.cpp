#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/rayjob/rules/spec.h"
#include "controllers/rayjob/rules/validator_parts.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

constexpr std::string_view kRules = "spec.deletionStrategy.deletionRules";
constexpr std::string_view kWorkers = "DeleteWorkers";
constexpr std::string_view kCluster = "DeleteCluster";
constexpr std::string_view kSelf = "DeleteSelf";

bool is_autoscaled(const Json& job) { return bool_at(job, {"spec", "rayClusterSpec", "enableInTreeAutoscaling"}); }

/// Refuses policies that are not possible for the cluster of the job.
void check_policy(const Json& job, const std::string& policy, const std::string& path, Errors& errors) {
  if (rayjob::selects_cluster(job) && (policy == kCluster || policy == kWorkers)) {
    errors.add(
        [&] { return invalid_value(path, policy, "a cluster of spec.clusterSelector is not deleted", kKubeRayRule); });
  } else if (policy == kWorkers && is_autoscaled(job)) {
    errors.add([&] {
      return invalid_value(path, policy, "cannot be combined with spec.rayClusterSpec.enableInTreeAutoscaling",
                           kKubeRayRule);
    });
  }
}

/// The rules of one condition by their policy.
using RulesOfCondition = std::map<std::string, std::pair<std::string, std::int64_t>>;  // Path of the rule, ttlSeconds.

/// A rule that deletes more must not be due before one that deletes less.
void check_order(const RulesOfCondition& rules, Errors& errors) {
  std::optional<std::pair<std::string_view, std::int64_t>> before;
  for (const std::string_view policy : {kWorkers, kCluster, kSelf}) {
    const auto found = rules.find(std::string(policy));
    if (found == rules.end()) continue;
    const auto& [path, ttl] = found->second;
    if (before && ttl < before->second) {
      errors.add([&, &path = path, &ttl = ttl] {
        return invalid_value(path + ".condition.ttlSeconds", ttl,
                             fmt::format("{} may not precede {} of the same condition: must be greater than or "
                                         "equal to {}",
                                         policy, before->first, before->second),
                             kKubeRayRule);
      });
    }
    before.emplace(policy, ttl);
  }
}

/// "jobStatus FAILED"; empty, with an error, unless the rule has exactly one condition.
std::string condition_of(const Json& rule, const std::string& path, Errors& errors) {
  const std::string job = string_at(rule, {"condition", "jobStatus"});
  const std::string deployment = string_at(rule, {"condition", "jobDeploymentStatus"});
  if (job.empty() == deployment.empty()) {
    errors.add([&] {
      return job.empty() ? required_value(path + ".condition", "set jobStatus or jobDeploymentStatus", kKubeRayRule)
                         : forbidden(path + ".condition.jobDeploymentStatus", "cannot be combined with jobStatus",
                                     kKubeRayRule);
    });
    return {};
  }
  return job.empty() ? "jobDeploymentStatus " + deployment : "jobStatus " + job;
}

void check_rules(const Json& job, const Json& rules, Errors& errors) {
  std::map<std::string, RulesOfCondition> by_condition;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Json& rule = rules[index];
    if (!rule.is_object()) continue;
    const std::string path = fmt::format("{}[{}]", kRules, index);
    const std::string policy = string_at(rule, {"policy"});
    check_policy(job, policy, path + ".policy", errors);
    const std::string condition = condition_of(rule, path, errors);
    if (condition.empty()) continue;
    const std::int64_t ttl = int_at(rule, {"condition", "ttlSeconds"});
    if (!by_condition[condition].emplace(policy, std::pair(path, ttl)).second) {
      errors.add([&] { return duplicate_value(path, fmt::format("{} for {}", policy, condition), kKubeRayRule); });
    }
  }
  for (const auto& [condition, group] : by_condition) check_order(group, errors);
}

/// onSuccess and onFailure.
void check_legacy(const Json& job, const Json& strategy, Errors& errors) {
  for (const std::string_view field : {"onSuccess", "onFailure"}) {
    const std::string path = fmt::format("spec.deletionStrategy.{}", field);
    if (find_set(strategy, {field}) == nullptr) {
      errors.push_back(required_value(path, "onSuccess and onFailure are set together", kKubeRayRule));
      continue;
    }
    const std::string policy = string_at(strategy, {field, "policy"});
    check_policy(job, policy, path + ".policy", errors);
    if (policy == "DeleteNone" && bool_at(job, {"spec", "shutdownAfterJobFinishes"})) {
      errors.push_back(invalid_value(path + ".policy", policy,
                                     "cannot be combined with spec.shutdownAfterJobFinishes: true", kKubeRayRule));
    }
  }
}

}  // namespace

bool has_deletion_rules(const Json& job) {
  return !array_at(job, {"spec", "deletionStrategy", "deletionRules"}).empty();
}

void check_rayjob_deletion(const Json& job, Errors& errors) {
  const bool shutdown = bool_at(job, {"spec", "shutdownAfterJobFinishes"});
  if (const std::int64_t ttl = int_at(job, {"spec", "ttlSecondsAfterFinished"}); ttl > 0 && !shutdown) {
    errors.push_back(
        forbidden("spec.ttlSecondsAfterFinished", "requires spec.shutdownAfterJobFinishes: true", kKubeRayRule));
  }
  const Json* strategy = find_set(job, {"spec", "deletionStrategy"});
  if (strategy == nullptr || !strategy->is_object()) return;
  const bool legacy = find_set(*strategy, {"onSuccess"}) != nullptr || find_set(*strategy, {"onFailure"}) != nullptr;
  const bool rules = has_deletion_rules(job);
  if (!legacy && !rules) {
    errors.push_back(required_value(std::string(kRules), "or set onSuccess and onFailure", kKubeRayRule));
  }
  if (legacy && rules) {
    errors.push_back(forbidden(std::string(kRules), "cannot be combined with onSuccess and onFailure", kKubeRayRule));
  }
  if (rules && shutdown) {
    errors.push_back(
        forbidden(std::string(kRules), "cannot be combined with spec.shutdownAfterJobFinishes: true", kKubeRayRule));
  }
  if (legacy) check_legacy(job, *strategy, errors);
  if (rules) check_rules(job, *find_set(*strategy, {"deletionRules"}), errors);
}

}  // namespace tpuslice::rules
