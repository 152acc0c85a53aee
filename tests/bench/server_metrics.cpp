#include "tests/bench/server_metrics.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace tpuslice::bench {
namespace {

constexpr std::array<std::string_view, 6> kResources = {"pods", "services", "jobs", "rayclusters", "jobsets", "events"};
constexpr std::array<std::string_view, 6> kVerbs = {"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"};

std::string_view label_of(std::string_view line, std::string_view name) {
  const std::string quoted = "," + std::string(name) + "=\"";
  std::size_t at = line.find(quoted);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + quoted.size());
  return line.substr(0, line.find('"'));
}

template <std::size_t size>
bool contains(const std::array<std::string_view, size>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

double count_writes(std::string_view metrics) {
  constexpr std::string_view kName = "apiserver_request_total{";
  double sum = 0;
  while (!metrics.empty()) {
    const std::string_view line = metrics.substr(0, metrics.find('\n'));
    metrics.remove_prefix(std::min(metrics.size(), line.size() + 1));
    if (!line.starts_with(kName)) continue;
    if (!contains(kResources, label_of(line, "resource")) || !contains(kVerbs, label_of(line, "verb"))) continue;
    sum += std::strtod(std::string(line.substr(line.rfind(' ') + 1)).c_str(), nullptr);
  }
  return sum;
}

Result<double> operator_writes(client::Client& client) {
  http::Request request;
  request.target = "/metrics";
  ASSIGN_OR_RETURN(const http::Response response, client.raw(std::move(request)));
  return count_writes(response.body);
}

}  // namespace tpuslice::bench
