#include "controllers/jobset/spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/labels.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/jobset/fields.h"

namespace tpuslice::jobset {
namespace {

std::vector<std::string> strings_at(const Json& json, std::string_view member) {
  std::vector<std::string> out;
  for (const Json& item : array_at(json, {member})) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

FailureAction action_of(std::string_view text) {
  using enum FailureAction;
  constexpr std::array<std::pair<std::string_view, FailureAction>, 5> kActions{{
      {"FailJobSet", kFailJobSet},
      {"RestartJobSet", kRestartJobSet},
      {"RestartJobSetAndIgnoreMaxRestarts", kRestartJobSetAndIgnoreMaxRestarts},
      {"RestartJob", kRestartJob},
      {"RestartJobAndIgnoreMaxRestarts", kRestartJobAndIgnoreMaxRestarts},
  }};
  const auto found = std::ranges::find(kActions, text, [](const auto& entry) { return entry.first; });
  return found == kActions.end() ? kRestartJobSet : found->second;
}

ReplicatedJob read_job(const webhook::ReplicatedJob& fields) {
  ReplicatedJob job;
  job.name = fields.name;
  job.group = string_at(*fields.json, {"groupName"}, "default");
  job.replicas = static_cast<int>(fields.replicas);
  job.parallelism = static_cast<int>(fields.parallelism);
  if (fields.completions) job.completions = static_cast<int>(*fields.completions);
  job.indexed = fields.indexed;
  for (const Json& dependency : array_at(*fields.json, {"dependsOn"})) {
    job.depends_on.push_back({string_at(dependency, {"name"}), string_at(dependency, {"status"}) == "Complete"});
  }
  job.job_template = webhook::find_set(*fields.json, {"template"});
  return job;
}

FailurePolicy read_failure_policy(const Json& json) {
  FailurePolicy policy;
  policy.max_restarts = static_cast<int>(int_at(json, {"maxRestarts"}, 0));
  policy.blocking = string_at(json, {"restartStrategy"}) == "BlockingRecreate";
  const Json& rules = array_at(json, {"rules"});
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Json& rule = rules[index];
    std::string name = string_at(rule, {"name"});
    if (name.empty()) name = webhook::default_rule_name(index);
    policy.rules.push_back({std::move(name), action_of(string_at(rule, {"action"})),
                            strings_at(rule, "onJobFailureReasons"), strings_at(rule, "onJobFailureMessagePatterns"),
                            strings_at(rule, "targetReplicatedJobs")});
  }
  return policy;
}

std::vector<VolumeClaim> read_claims(const Json& spec, const std::string& jobset) {
  std::vector<VolumeClaim> claims;
  for (const Json& policy : array_at(spec, {"volumeClaimPolicies"})) {
    const bool retained = string_at(policy, {"retentionPolicy", "whenDeleted"}, "Delete") == "Retain";
    for (const Json& claim : array_at(policy, {"templates"})) {
      const std::string volume = string_at(claim, {"metadata", "name"});
      claims.push_back({volume, fmt::format("{}-{}", volume, jobset), retained, &claim});
    }
  }
  return claims;
}

}  // namespace

bool FailurePolicy::restarts_single_jobs() const {
  return std::ranges::any_of(rules, [](const FailureRule& rule) {
    return rule.action == FailureAction::kRestartJob || rule.action == FailureAction::kRestartJobAndIgnoreMaxRestarts;
  });
}

JobSetSpec JobSetSpec::read(const Object& jobset) {
  const Json& json = jobset.json();
  JobSetSpec spec;
  spec.key = jobset.key();
  spec.uid = jobset.uid();
  spec.generation = jobset.generation();
  spec.owner = jobset.as_controller();
  spec.annotations = string_map_at(json, {"metadata", "annotations"});
  for (const webhook::ReplicatedJob& fields : webhook::replicated_jobs(json)) spec.jobs.push_back(read_job(fields));
  spec.suspended = webhook::is_suspended(json);
  const Json* const found = webhook::find_set(json, {"spec"});
  if (found == nullptr) return spec;
  spec.dns = bool_at(*found, {"network", "enableDNSHostnames"}, true);
  spec.publish_not_ready = bool_at(*found, {"network", "publishNotReadyAddresses"}, true);
  spec.subdomain = string_at(*found, {"network", "subdomain"});
  if (spec.subdomain.empty()) spec.subdomain = spec.key.name;
  if (const Json* policy = webhook::find_set(*found, {"successPolicy"}); policy != nullptr) {
    spec.success = {string_at(*policy, {"operator"}) == "Any", strings_at(*policy, "targetReplicatedJobs")};
  }
  if (const Json* policy = webhook::find_set(*found, {"failurePolicy"}); policy != nullptr) {
    spec.failure = read_failure_policy(*policy);
  }
  spec.in_order = string_at(*found, {"startupPolicy", "startupPolicyOrder"}) == "InOrder";
  if (const Json* coordinator = webhook::find_set(*found, {"coordinator"}); coordinator != nullptr) {
    spec.coordinator =
        fmt::format("{}-{}-{}-{}.{}", spec.key.name, string_at(*coordinator, {"replicatedJob"}),
                    int_at(*coordinator, {"jobIndex"}, 0), int_at(*coordinator, {"podIndex"}, 0), spec.subdomain);
  }
  spec.managed_by = string_at(*found, {"managedBy"});
  if (webhook::find_set(*found, {"ttlSecondsAfterFinished"}) != nullptr) {
    spec.ttl = std::chrono::seconds(int_at(*found, {"ttlSecondsAfterFinished"}, 0));
  }
  spec.claims = read_claims(*found, spec.key.name);
  spec.restart_at_failure_target = jobset.annotation(kRestartAt) == "FailureTarget";
  return spec;
}

bool JobSetSpec::managed_elsewhere() const { return !managed_by.empty() && managed_by != kControllerName; }

const ReplicatedJob* JobSetSpec::find(std::string_view name) const {
  const auto found = std::ranges::find(jobs, name, &ReplicatedJob::name);
  return found == jobs.end() ? nullptr : &*found;
}

int JobSetSpec::total_replicas() const {
  int total = 0;
  for (const ReplicatedJob& job : jobs) total += job.replicas;
  return total;
}

int JobSetSpec::group_replicas(std::string_view group) const {
  int total = 0;
  for (const ReplicatedJob& job : jobs) total += job.group == group ? job.replicas : 0;
  return total;
}

int JobSetSpec::jobs_before(const ReplicatedJob& job, std::optional<std::string_view> group) const {
  int total = 0;
  for (const ReplicatedJob& other : jobs) {
    if (other.name == job.name) break;
    if (!group || other.group == *group) total += other.replicas;
  }
  return total;
}

std::string job_name(const JobSetSpec& spec, const ReplicatedJob& job, int index) {
  return fmt::format("{}-{}-{}", spec.key.name, job.name, index);
}

}  // namespace tpuslice::jobset
