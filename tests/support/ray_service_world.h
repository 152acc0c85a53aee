// RayServiceWorld: a simulated cluster with RayServices, whose dashboards answer, and invariants.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/file.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {

class RayServiceWorld final : public OperatorWorld {
 public:
  static inline const ObjectKey kService{"default", "llm"};
  static constexpr const char* kRayServices = "rayservices.ray.io";
  static constexpr const char* kClusters = "rayclusters.ray.io";

  explicit RayServiceWorld(sim::ClusterOptions options = {})
      : OperatorWorld(std::move(options), "deploy/crds/ray.io_rayservices.yaml"), dashboards(clock) {
    require(cluster.apply_yaml(read_file("deploy/crds/ray.io_rayclusters.yaml").value()));
    replacement = operator_options();
  }

  [[nodiscard]] OperatorOptions operator_options() {
    OperatorOptions out;
    out.ray_services = true;
    out.dashboards = &dashboards;
    return out;
  }
  /// `name`: "cpu" or "v6e-4x4", of tests/e2e/scenarios/objects.
  void apply_service(const std::string& name) {
    require(cluster.apply_yaml(read_file(fmt::format("tests/e2e/scenarios/objects/rayservice-{}.yaml", name)).value()));
  }
  /// Another rayClusterConfig.
  void upgrade() {
    Json manifest = service();
    manifest.erase("status");
    manifest["metadata"] = {{"name", kService.name}, {"namespace", kService.namespace_name}};
    manifest["spec"]["rayClusterConfig"]["rayVersion"] = "2.49.1";
    TPUSLICE_CHECK(cluster.apply(std::move(manifest)).ok());
  }

  [[nodiscard]] Json service() const {
    const sim::JsonPtr found = cluster.get(kRayServices, kService);
    return found == nullptr ? Json() : *found;
  }
  /// It serves, from one cluster that has this version of Ray.
  [[nodiscard]] bool is_running(const std::string& version = {}) {
    const std::vector<sim::JsonPtr> clusters = cluster.storage().list(kClusters, kService.namespace_name);
    return string_at(service(), {"status", "serviceStatus"}) == "Running" && clusters.size() == 1 &&
           string_at(*clusters.front(), {"spec", "rayVersion"}) == version &&
           string_at(service(), {"status", "activeServiceStatus", "rayClusterName"}) ==
               string_at(*clusters.front(), {"metadata", "name"});
  }
  /// Once the service has run, the serve service selects a cluster that exists and has an endpoint.
  [[nodiscard]] std::vector<std::string> check() override {
    if (on_step) {
      std::vector<std::string> out;
      on_step(out);
      return out;
    }
    const sim::JsonPtr serve = cluster.get("services", {"default", "llm-serve-svc"});
    if (serve == nullptr || !must_serve) return {};
    const std::string selected = string_at(*serve, {"spec", "selector", "ray.io/cluster"});
    int endpoints = 0;
    for (const sim::JsonPtr& pod : cluster.storage().list("pods", "default")) {
      const auto label = [&](const char* name) { return string_at(*pod, {"metadata", "labels", name}); };
      if (label("ray.io/cluster") == selected && label("ray.io/serve") == "true" &&
          sim::condition_status(*pod, "Ready") == "True" && !pod->at("metadata").contains("deletionTimestamp")) {
        ++endpoints;
      }
    }
    if (endpoints > 0) return {};
    return {fmt::format("the serve service selects {}, which has no endpoint", selected)};
  }
  /// Objects and what they serve. Names of pods depend on the uid of their cluster, so they are left out.
  [[nodiscard]] std::string digest() {
    std::multiset<std::string> lines;
    for (const char* resource : {"pods", "services", kClusters, kRayServices}) {
      for (const sim::JsonPtr& object : cluster.storage().list(resource, kService.namespace_name)) {
        const auto label = [&](const char* name) { return string_at(*object, {"metadata", "labels", name}); };
        const bool pod = std::string_view(resource) == "pods";
        lines.insert(fmt::format(
            "{} {} {} {} {}\n", resource, pod ? label("ray.io/cluster") : string_at(*object, {"metadata", "name"}),
            label("ray.io/node-type"), label("ray.io/serve"), string_at(*object, {"status", "serviceStatus"})));
      }
    }
    return fmt::format("{}", fmt::join(lines, ""));
  }

  sim::RayDashboards dashboards;
  bool must_serve = false;
  /// Called at each step; adds violations. With it, the serve service is not checked.
  std::function<void(std::vector<std::string>& violations)> on_step;
};

}  // namespace tpuslice::testing
