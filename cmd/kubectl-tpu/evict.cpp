#include "cmd/kubectl-tpu/evict.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cmd/kubectl-tpu/workload_pods.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

constexpr std::int64_t kDefaultBackoffLimit = 6;  ///< Default of the Job API.

bool ignores_disruptions(const Json& job_spec) {
  return std::ranges::any_of(array_at(job_spec, {"podFailurePolicy", "rules"}), [](const Json& rule) {
    return string_at(rule, {"action"}) == "Ignore" &&
           std::ranges::any_of(array_at(rule, {"onPodConditions"}), [](const Json& condition) {
             return string_at(condition, {"type"}) == "DisruptionTarget";
           });
  });
}

RestartCost cost_of_job(const Json& job_spec, int hosts) {
  if (ignores_disruptions(job_spec)) {
    return {"nothing: its podFailurePolicy ignores evictions", false};
  }
  if (find_set(job_spec, {"backoffLimitPerIndex"}) != nullptr) {
    const std::int64_t limit = int_at(job_spec, {"backoffLimitPerIndex"});
    return {fmt::format("one of {} failures (backoffLimitPerIndex) of each host", limit), limit < 1};
  }
  const std::int64_t limit = int_at(job_spec, {"backoffLimit"}, kDefaultBackoffLimit);
  return {fmt::format("{} of {} failures (backoffLimit)", hosts, limit), hosts > limit};
}

RestartCost cost_of_job_set(const Json& job_set, int hosts) {
  // Which of the groups the slices are of is not known: if a Job of one of them fails, all restart.
  std::optional<RestartCost> without_restart;
  bool restarts = false;
  for (const Json& group : array_at(job_set, {"spec", "replicatedJobs"})) {
    const Json& spec = object_at(group, {"template", "spec"});
    if (tpu_containers_of(object_at(spec, {"template"})).empty()) continue;
    RestartCost cost = cost_of_job(spec, hosts);
    restarts = restarts || cost.fails;
    if (!cost.fails && !without_restart) without_restart = std::move(cost);
  }
  if (!restarts && without_restart) return *without_restart;
  const std::int64_t limit = int_at(job_set, {"spec", "failurePolicy", "maxRestarts"});
  const std::int64_t used = int_at(job_set, {"status", "restartsCountTowardsMax"});
  return {fmt::format("one restart of all its slices, {} of {} (failurePolicy.maxRestarts) are used", used, limit),
          used >= limit};
}

}  // namespace

Status evict(client::Client& api, const Object& pod, bool dry_run, const std::stop_token& stop) {
  Json eviction = {{"apiVersion", "policy/v1"},
                   {"kind", "Eviction"},
                   {"metadata", {{"name", pod.name()}, {"namespace", pod.namespace_name()}}},
                   {"deleteOptions", {{"preconditions", {{"uid", pod.uid()}}}}}};
  if (dry_run) eviction["deleteOptions"]["dryRun"] = Json::array({"All"});
  http::Request request;
  request.method = "POST";
  request.target = kPods.path(pod.namespace_name(), pod.name(), "eviction");
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  request.body = eviction.dump();
  const Result<http::Response> answer = api.raw(std::move(request), stop);
  return answer ? Status() : Status(answer.error().within("evict pod " + pod.key().to_string()));
}

std::vector<Object> one_pod_of_each_slice(const std::vector<Object>& pods) {
  std::set<std::tuple<std::string, std::string>> seen;
  std::vector<Object> chosen;
  // A slice that is being torn down would only lose another pod.
  for (const Object& pod : pods) {
    if (pod.deletion_timestamp()) seen.emplace(pod.namespace_name(), pod.label(tpu::kSlice));
  }
  for (const Object& pod : pods) {
    const std::string phase = string_at(pod.json(), {"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed" || host_index_of(pod) < 0) continue;
    if (seen.emplace(pod.namespace_name(), pod.label(tpu::kSlice)).second) chosen.push_back(pod);
  }
  return chosen;
}

RestartCost restart_cost(std::string_view kind, const Json& workload, int hosts) {
  if (kind == "JobSet") return cost_of_job_set(workload, hosts);
  if (kind == "Job") return cost_of_job(object_at(workload, {"spec"}), hosts);
  if (kind == "RayJob") {
    const std::int64_t limit = int_at(workload, {"spec", "backoffLimit"});
    return {fmt::format("nothing if the Ray job continues; if it fails, an attempt of backoffLimit {}", limit), false};
  }
  if (kind == "LeaderWorkerSet") return {"at most one of maxGroupRestarts, if that is set", false};
  return {"nothing: such restarts are not counted", false};
}

}  // namespace tpuslice::plugin
