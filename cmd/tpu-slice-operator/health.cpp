#include "cmd/tpu-slice-operator/health.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice {
namespace {

http::Response health_text(int status, std::string body) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

http::Response answer_endpoint(const HealthEndpoint& endpoint, bool verbose) {
  bool passed = true;
  std::string text;
  for (const HealthCheck& each : endpoint.checks) {
    const Status status = each.check();
    passed = passed && (status || !each.required);
    const std::string_view optional = each.required ? "" : " (not required)";
    text += status ? fmt::format("[+]{} ok{}\n", each.name, optional)
                   : fmt::format("[-]{} failed: {}{}\n", each.name, status.error().message(), optional);
  }
  text += fmt::format("{} check {}\n", endpoint.path.substr(1), passed ? "passed" : "failed");
  if (!passed) return health_text(500, std::move(text));
  return health_text(200, verbose ? std::move(text) : "ok");
}

http::Response unknown_path(const std::vector<HealthEndpoint>& endpoints) {
  std::vector<std::string> paths;
  for (const HealthEndpoint& endpoint : endpoints) {
    paths.push_back(endpoint.path);
    for (const HealthCheck& each : endpoint.checks) paths.push_back(endpoint.path + "/" + each.name);
  }
  return health_text(404, fmt::format("paths are {}", fmt::join(paths, ", ")));
}

}  // namespace

http::Response answer_health(const std::vector<HealthEndpoint>& endpoints, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
  for (const HealthEndpoint& endpoint : endpoints) {
    if (path == endpoint.path) return answer_endpoint(endpoint, query == "verbose" || query.starts_with("verbose="));
    for (const HealthCheck& each : endpoint.checks) {
      if (path != endpoint.path + "/" + each.name) continue;
      const Status status = each.check();
      return status ? health_text(200, "ok") : health_text(500, status.error().message());
    }
  }
  return unknown_path(endpoints);
}

}  // namespace tpuslice
