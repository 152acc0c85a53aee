#include "controllers/jobset/rules/spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::jobset {
namespace {

std::vector<std::string> strings_at(const Json& json, std::string_view member) {
  std::vector<std::string> out;
  for (const Json& item : array_at(json, {member})) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

FailureAction to_action(std::string_view text) {
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

ReplicatedJob read_job(const Json& json, std::size_t position) {
  ReplicatedJob job;
  job.json = &json;
  job.path = fmt::format("spec.replicatedJobs[{}]", position);
  job.name = string_at(json, {"name"});
  job.group = string_at(json, {"groupName"}, "default");
  job.replicas = int32_at(json, {"replicas"}).value_or(1);
  job.parallelism = int32_at(json, {"template", "spec", "parallelism"}).value_or(1);
  job.completions = int32_at(json, {"template", "spec", "completions"});
  if (!job.completions && find_set(json, {"template", "spec", "parallelism"}) == nullptr) job.completions = 1;
  job.indexed = string_at(json, {"template", "spec", "completionMode"}, "Indexed") == "Indexed";
  for (const Json& dependency : array_at(json, {"dependsOn"})) {
    job.depends_on.push_back({string_at(dependency, {"name"}), string_at(dependency, {"status"}) == "Complete"});
  }
  job.job_template = find_set(json, {"template"});
  job.pod_template = find_set(json, {"template", "spec", "template"});
  return job;
}

std::vector<ReplicatedJob> read_jobs(const Json& jobset) {
  std::vector<ReplicatedJob> jobs;
  const Json& list = array_at(jobset, {"spec", "replicatedJobs"});
  for (std::size_t position = 0; position < list.size(); ++position) {
    if (list[position].is_object()) jobs.push_back(read_job(list[position], position));
  }
  return jobs;
}

FailurePolicy read_failure_policy(const Json& json) {
  FailurePolicy policy;
  policy.max_restarts = static_cast<int>(int32_at(json, {"maxRestarts"}).value_or(0));
  policy.blocking = string_at(json, {"restartStrategy"}) == "BlockingRecreate";
  const Json& rules = array_at(json, {"rules"});
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const Json& rule = rules[index];
    std::string name = string_at(rule, {"name"});
    if (name.empty()) name = default_rule_name(index);
    policy.rules.push_back({std::move(name), to_action(string_at(rule, {"action"})),
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

std::string ReplicatedJob::job_path(std::string_view field) const {
  return fmt::format("{}.template.spec.{}", path, field);
}

std::string default_rule_name(std::size_t index) { return fmt::format("failurePolicyRule{}", index); }

bool FailurePolicy::restarts_single_jobs() const {
  return std::ranges::any_of(rules, [](const FailureRule& rule) {
    return rule.action == FailureAction::kRestartJob || rule.action == FailureAction::kRestartJobAndIgnoreMaxRestarts;
  });
}

JobSetSpec JobSetSpec::read(const Object& jobset) {
  JobSetSpec spec = read(jobset.json());
  spec.owner = jobset.as_controller();
  return spec;
}

JobSetSpec JobSetSpec::read(const Json& jobset) {
  JobSetSpec spec;
  spec.key = {string_at(jobset, {"metadata", "namespace"}), string_at(jobset, {"metadata", "name"})};
  spec.uid = string_at(jobset, {"metadata", "uid"});
  spec.generation = int_at(jobset, {"metadata", "generation"});
  spec.annotations = string_map_at(jobset, {"metadata", "annotations"});
  spec.restart_at_failure_target = string_at(jobset, {"metadata", "annotations", kRestartAt}) == "FailureTarget";
  spec.jobs = read_jobs(jobset);
  const Json* const found = find_set(jobset, {"spec"});
  if (found == nullptr) return spec;
  spec.suspended = bool_at(*found, {"suspend"});
  spec.dns = bool_at(*found, {"network", "enableDNSHostnames"}, true);
  spec.publish_not_ready = bool_at(*found, {"network", "publishNotReadyAddresses"}, true);
  spec.subdomain = string_at(*found, {"network", "subdomain"});
  if (spec.subdomain.empty()) spec.subdomain = spec.key.name;
  if (const Json* policy = find_set(*found, {"successPolicy"}); policy != nullptr) {
    spec.success = {string_at(*policy, {"operator"}) == "Any", strings_at(*policy, "targetReplicatedJobs")};
  }
  if (const Json* policy = find_set(*found, {"failurePolicy"}); policy != nullptr) {
    spec.failure = read_failure_policy(*policy);
  }
  spec.in_order = string_at(*found, {"startupPolicy", "startupPolicyOrder"}) == "InOrder";
  if (const Json* coordinator = find_set(*found, {"coordinator"}); coordinator != nullptr) {
    spec.coordinator =
        fmt::format("{}-{}-{}-{}.{}", spec.key.name, string_at(*coordinator, {"replicatedJob"}),
                    int_at(*coordinator, {"jobIndex"}), int_at(*coordinator, {"podIndex"}), spec.subdomain);
  }
  spec.managed_by = string_at(*found, {"managedBy"});
  spec.scheduling = find_set(*found, {"scheduling"});
  if (find_set(*found, {"ttlSecondsAfterFinished"}) != nullptr) {
    spec.ttl = std::chrono::seconds(int_at(*found, {"ttlSecondsAfterFinished"}));
  }
  if (find_set(*found, {"activeDeadlineSeconds"}) != nullptr) {
    constexpr auto kMax = std::chrono::duration_cast<std::chrono::seconds>(kMaxActiveDeadline);
    spec.active_deadline = std::min(std::chrono::seconds(int_at(*found, {"activeDeadlineSeconds"})), kMax);
  }
  spec.claims = read_claims(*found, spec.key.name);
  return spec;
}

bool JobSetSpec::managed_by_other() const { return !managed_by.empty() && managed_by != kControllerName; }

const ReplicatedJob* JobSetSpec::find(std::string_view name) const {
  const auto found = std::ranges::find(jobs, name, &ReplicatedJob::name);
  return found == jobs.end() ? nullptr : &*found;
}

std::int64_t JobSetSpec::total_replicas() const {
  std::int64_t total = 0;
  for (const ReplicatedJob& job : jobs) total += job.replicas;
  return total;
}

std::int64_t JobSetSpec::group_replicas(std::string_view group) const {
  std::int64_t total = 0;
  for (const ReplicatedJob& job : jobs) total += job.group == group ? job.replicas : 0;
  return total;
}

std::int64_t JobSetSpec::jobs_before(const ReplicatedJob& job, std::optional<std::string_view> group) const {
  std::int64_t total = 0;
  for (const ReplicatedJob& other : jobs) {
    if (other.name == job.name) break;
    if (!group || other.group == *group) total += other.replicas;
  }
  return total;
}

std::string job_name(const JobSetSpec& spec, const ReplicatedJob& job, std::int64_t index) {
  return fmt::format("{}-{}-{}", spec.key.name, job.name, index);
}

}  // namespace tpuslice::jobset
