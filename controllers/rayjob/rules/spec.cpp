#include "controllers/rayjob/rules/spec.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace tpuslice::rayjob {
namespace {

constexpr std::string_view kOurManager = "ray.io/kuberay-operator";

constexpr std::array<std::pair<std::string_view, SubmissionMode>, 4> kModes{
    {{"K8sJobMode", SubmissionMode::kK8sJob},
     {"HTTPMode", SubmissionMode::kHttp},
     {"SidecarMode", SubmissionMode::kSidecar},
     {"InteractiveMode", SubmissionMode::kInteractive}}};

constexpr std::array<std::pair<std::string_view, DeletionPolicy>, 4> kPolicies{
    {{"DeleteNone", DeletionPolicy::kNone},
     {"DeleteWorkers", DeletionPolicy::kWorkers},
     {"DeleteCluster", DeletionPolicy::kCluster},
     {"DeleteSelf", DeletionPolicy::kSelf}}};

template <typename Value, std::size_t size>
Value named(const std::array<std::pair<std::string_view, Value>, size>& values, std::string_view name, Value fallback) {
  const auto found = std::ranges::find(values, name, &std::pair<std::string_view, Value>::first);
  return found == values.end() ? fallback : found->second;
}

Duration seconds_at(const Json& json, std::initializer_list<std::string_view> path) {
  return std::chrono::seconds(std::max<std::int64_t>(int32_at(json, path).value_or(0), 0));
}

std::optional<Duration> limit_at(const Json& json, std::string_view member) {
  const std::optional<std::int64_t> seconds = int32_at(json, {member});
  if (!seconds || *seconds <= 0) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

DeletionPolicy policy_at(const Json& json) {
  return named(kPolicies, string_at(json, {"policy"}), DeletionPolicy::kNone);
}

void read_deletion(const Json& spec, RayJobSpec& out) {
  const Json* strategy = find_set(spec, {"deletionStrategy"});
  if (strategy == nullptr || !strategy->is_object()) return;
  using Condition = DeletionRule::Condition;
  for (const Json& rule : array_at(*strategy, {"deletionRules"})) {
    const std::string status = string_at(rule, {"condition", "jobStatus"});
    const Condition condition = status == "SUCCEEDED" ? Condition::kSucceeded
                                : status == "FAILED"  ? Condition::kNotSucceeded
                                                      : Condition::kDeploymentFailed;
    out.deletion.push_back({policy_at(rule), condition, seconds_at(rule, {"condition", "ttlSeconds"})});
  }
  out.has_deletion_strategy = !out.deletion.empty();
  if (out.has_deletion_strategy) return;
  constexpr std::array kLegacy = {std::pair{"onSuccess", Condition::kSucceeded},
                                  std::pair{"onFailure", Condition::kNotSucceeded}};
  for (const auto& [member, condition] : kLegacy) {
    const Json* policy = find_set(*strategy, {member});
    if (policy == nullptr) continue;
    out.deletion.push_back({policy_at(*policy), condition, out.ttl});
    out.has_deletion_strategy = true;
  }
}

}  // namespace

std::string_view to_string(SubmissionMode mode) {
  return std::ranges::find(kModes, mode, &std::pair<std::string_view, SubmissionMode>::second)->first;
}

SubmissionMode submission_mode(std::string_view name, SubmissionMode fallback) { return named(kModes, name, fallback); }

bool selects_cluster(const Json& job) {
  const Json* selector = find_set(job, {"spec", "clusterSelector"});
  return selector != nullptr && selector->is_object() && !selector->empty();
}

bool RayJobSpec::managed_by_other() const { return !managed_by.empty() && managed_by != kOurManager; }

RayJobSpec RayJobSpec::read(const Json& job) {
  RayJobSpec out;
  out.key = {string_at(job, {"metadata", "namespace"}), string_at(job, {"metadata", "name"})};
  out.uid = string_at(job, {"metadata", "uid"});
  out.generation = int_at(job, {"metadata", "generation"});
  out.owner = {string_at(job, {"apiVersion"}), string_at(job, {"kind"}), out.key.name, out.uid};
  const Json* spec = find_set(job, {"spec"});
  if (spec == nullptr || !spec->is_object()) return out;
  out.cluster = find_set(*spec, {"rayClusterSpec"});
  out.selects_cluster = rayjob::selects_cluster(job);
  out.selected_cluster = string_at(*spec, {"clusterSelector", kSelectorKey});
  out.mode = submission_mode(string_at(*spec, {"submissionMode"}), SubmissionMode::kK8sJob);
  out.entrypoint = string_at(*spec, {"entrypoint"});
  out.job_id = string_at(*spec, {"jobId"});
  out.runtime_env = string_at(*spec, {"runtimeEnvYAML"});
  out.metadata = string_map_at(*spec, {"metadata"});
  out.entrypoint_cpus = find_set(*spec, {"entrypointNumCpus"});
  out.entrypoint_gpus = find_set(*spec, {"entrypointNumGpus"});
  out.entrypoint_resources = string_at(*spec, {"entrypointResources"});
  out.submitter_template = find_set(*spec, {"submitterPodTemplate"});
  out.submitter_retries = std::max<std::int64_t>(int32_at(*spec, {"submitterConfig", "backoffLimit"}).value_or(2), 0);
  out.backoff_limit = std::max<std::int64_t>(int32_at(*spec, {"backoffLimit"}).value_or(0), 0);
  out.active_deadline = limit_at(*spec, "activeDeadlineSeconds");
  out.pre_running_deadline = limit_at(*spec, "preRunningDeadlineSeconds");
  out.shutdown = bool_at(*spec, {"shutdownAfterJobFinishes"});
  out.ttl = seconds_at(*spec, {"ttlSecondsAfterFinished"});
  read_deletion(*spec, out);
  out.suspend = bool_at(*spec, {"suspend"});
  out.managed_by = string_at(*spec, {"managedBy"});
  return out;
}

}  // namespace tpuslice::rayjob
