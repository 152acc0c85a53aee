// ScenarioRunner: the steps that concern Ray's dashboards.
#include <algorithm>

#include <fmt/format.h>

#include "tests/e2e/runner/scenario_runner.h"

namespace tpuslice::e2e {

Result<std::string> ScenarioRunner::await_field(const Target& target, const std::string& path, Duration limit) {
  ASSIGN_OR_RETURN(const FieldPath field, FieldPath::parse(path));
  std::string value;
  RETURN_IF_ERROR(wait_until_empty(limit, [&]() -> std::string {
    const auto objects = find(target);
    if (!objects) return objects.error().message();
    if (objects->size() != 1) return fmt::format("{}: {} objects, expected one", target.text, objects->size());
    const std::vector<Json> values = field.values(objects->front());
    if (values.empty() || !values.front().is_string() || values.front() == "") {
      return fmt::format("{}: {} is not set", target.text, path);
    }
    value = values.front().get<std::string>();
    return {};
  }));
  return value;
}

Result<std::string> ScenarioRunner::head_service_of(const ServeCluster& cluster, Duration limit) {
  const std::string path =
      fmt::format(".status.{}ServiceStatus.rayClusterName", cluster.pending ? "pending" : "active");
  ASSIGN_OR_RETURN(const std::string name, await_field(cluster.service, path, limit));
  return fmt::format("{}-head-svc.{}", name, namespace_);
}

Status ScenarioRunner::act(const Step& step, const SetRayJob& set) {
  ASSIGN_OR_RETURN(const std::string id, await_field(set.job, ".status.jobId", step.within));
  if (set.status == "lost") {
    ray_->dashboards().forget_job(id);
  } else {
    ray_->dashboards().set_job(id, set.status, set.message);
  }
  return {};
}

Status ScenarioRunner::act(const Step& step, const SetApplications& set) {
  ASSIGN_OR_RETURN(const std::string service, head_service_of(set.cluster, step.within));
  if (set.statuses.empty()) ray_->dashboards().forget_applications(service);
  for (const auto& [name, status] : set.statuses) ray_->dashboards().set_application(service, name, status, "");
  return {};
}

Status ScenarioRunner::act(const Step& step, const SetProxies& set) {
  ASSIGN_OR_RETURN(const std::string service, head_service_of(set.cluster, step.within));
  std::vector<std::string> addresses;
  RETURN_IF_ERROR(wait_until_empty(step.within, [&]() -> std::string {
    const auto pods = find(set.pods);
    if (!pods) return pods.error().message();
    addresses.clear();
    for (const Json& pod : *pods) addresses.push_back(string_at(pod, {"status", "podIP"}));
    const bool all = !addresses.empty() && std::ranges::find(addresses, "") == addresses.end();
    return all ? "" : fmt::format("{}: not all pods have an address", set.pods.text);
  }));
  ray_->dashboards().set_proxies(service, std::move(addresses));
  return {};
}

Status ScenarioRunner::act(const Step&, const SetDashboards& set) {
  ray_->dashboards().set_fault(set.fault);
  return {};
}

Status ScenarioRunner::act(const Step& step, const ExpectDashboardRequest& expected) {
  return wait_until_empty(step.within, [&]() -> std::string {
    for (std::string& request : ray_->dashboards().take_requests()) dashboard_requests_.push_back(std::move(request));
    const bool received = std::ranges::any_of(
        dashboard_requests_, [&](const std::string& request) { return std::regex_search(request, expected.pattern); });
    if (received) return {};
    return fmt::format("{} requests received, none matches {}", dashboard_requests_.size(), expected.text);
  });
}

}  // namespace tpuslice::e2e
