#include "cmd/tpu-slice-sim/ray_pods.h"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/types/object.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice {
namespace {

/// The variable with the submission id, in a container that submits a job.
constexpr std::string_view kSubmissionId = "RAY_JOB_SUBMISSION_ID";

std::string variable(const Json& container, std::string_view name) {
  for (const Json& each : array_at(container, {"env"})) {
    if (string_at(each, {"name"}) == name) return string_at(each, {"value"});
  }
  return {};
}

}  // namespace

void RayPods::step() {
  std::map<std::string, std::vector<std::string>> proxies;  // By head service.
  std::set<std::string> running;
  for (const sim::JsonPtr& json : cluster_.storage().list("pods")) {
    if (string_at(*json, {"status", "phase"}) != "Running") continue;
    running.insert(string_at(*json, {"metadata", "uid"}));
    const std::string cluster = string_at(*json, {"metadata", "labels", raycluster::kRayCluster});
    if (!cluster.empty()) {
      proxies[fmt::format("{}-head-svc.{}", cluster, string_at(*json, {"metadata", "namespace"}))].push_back(
          string_at(*json, {"status", "podIP"}));
    }
    for (const Json& container : array_at(*json, {"spec", "containers"})) {
      const std::string id = variable(container, kSubmissionId);
      if (!id.empty()) run_submitter(*json, container, id);
    }
  }
  std::erase_if(submitted_, [&](const auto& each) { return !running.contains(each.first); });
  for (auto& [service, addresses] : proxies) dashboards_.set_proxies(service, std::move(addresses));
}

void RayPods::run_submitter(const Json& pod, const Json& container, const std::string& submission_id) {
  const Object object(pod);
  const std::string name = string_at(container, {"name"});
  const auto [submitted, first] = submitted_.emplace(object.uid(), clock_.now());
  if (first) dashboards_.submit({{"submission_id", submission_id}, {"entrypoint", name}});
  if (clock_.now() < submitted->second + job_duration_) return;
  (void)cluster_.kill_container(object.key(), name, 0);  // It may have ended, or the pod may be gone.
}

}  // namespace tpuslice
