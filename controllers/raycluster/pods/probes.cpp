#include "controllers/raycluster/pods/pod_parts.h"

#include <optional>

#include "api/base/strings.h"
#include "controllers/raycluster/rules/ray_version.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

int port_of(const StringMap& params, std::string_view name, int fallback) {
  const auto found = params.find(name);
  return found == params.end() ? fallback : parse_integer<int>(found->second).value_or(fallback);
}

bool has_health_endpoint(std::string_view version) {
  constexpr RayVersion kFirst{2, 53, 0};
  const std::optional<RayVersion> parsed = parse_ray_version(version);
  return parsed && *parsed >= kFirst;
}

std::string wget(int timeout_seconds, std::int64_t port, std::string_view path) {
  return fmt::format("wget --tries 1 -T {} -q -O- http://localhost:{}/{} | grep success", timeout_seconds, port, path);
}

int agent_port(const StringMap& params) { return port_of(params, "dashboard-agent-listen-port", kAgentPort); }

std::string raylet_command(const StringMap& params) { return wget(2, agent_port(params), "api/local_raylet_healthz"); }

Json command_check(const std::string& command) { return {{"command", {"bash", "-c", command}}}; }

std::int64_t serve_port_of(const Json& container) {
  for (const Json& port : array_at(container, {"ports"})) {
    if (string_at(port, {"name"}) == "serve") return int_at(port, {"containerPort"}, kServePort);
  }
  return kServePort;
}

Json check(NodeType type, const StringMap& params, const std::string& ray_version) {
  if (has_health_endpoint(ray_version)) {
    return {{"httpGet", {{"path", "/api/healthz"}, {"port", agent_port(params)}}}};
  }
  std::string command = raylet_command(params);
  if (type == NodeType::kHead) {
    command += " && " + wget(10, port_of(params, "dashboard-port", kDashboardPort), "api/gcs_healthz");
  }
  return {{"exec", command_check(command)}};
}

}  // namespace

void add_probes(Json& container, NodeType type, const StringMap& ray_start_params, const std::string& ray_version) {
  Json probe = check(type, ray_start_params, ray_version);
  probe["timeoutSeconds"] = type == NodeType::kHead ? 5 : 2;
  probe["periodSeconds"] = 5;
  probe["successThreshold"] = 1;
  if (!container.contains("livenessProbe")) {
    Json& liveness = container["livenessProbe"] = probe;
    liveness["initialDelaySeconds"] = 30;
    liveness["failureThreshold"] = 120;
  }
  if (!container.contains("readinessProbe")) {
    Json& readiness = container["readinessProbe"] = probe;
    readiness["initialDelaySeconds"] = 10;
    readiness["failureThreshold"] = 10;
  }
}

void probe_serve_proxy(Json& container, const StringMap& ray_start_params) {
  Json& readiness = container["readinessProbe"];
  readiness.erase("httpGet");
  readiness["exec"] =
      command_check(raylet_command(ray_start_params) + " && " + wget(10, serve_port_of(container), "-/healthz"));
  readiness["failureThreshold"] = 1;
}

}  // namespace tpuslice::raycluster
