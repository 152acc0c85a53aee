#include "controllers/jobset/rules/service_ports.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::jobset {
namespace {

constexpr std::int64_t kMaxPort = 65535;

/// "tcp", the first part of the port's name; empty for a protocol that there is not.
std::string_view prefix_of(std::string_view protocol) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPrefixes{
      {{"TCP", "tcp"}, {"UDP", "udp"}, {"SCTP", "sctp"}}};
  const auto found = std::ranges::find(kPrefixes, protocol, [](const auto& entry) { return entry.first; });
  return found == kPrefixes.end() ? std::string_view() : found->second;
}

/// The port of the service for one of a container; null if there can be none.
Json service_port(const Json& container_port) {
  const std::int64_t number = int_at(container_port, {"containerPort"});
  std::string protocol = string_at(container_port, {"protocol"});
  if (protocol.empty()) protocol = "TCP";
  const std::string_view prefix = prefix_of(protocol);
  if (number < 1 || number > kMaxPort || prefix.empty()) return {};
  return {{"name", fmt::format("{}-{}", prefix, number)},
          {"port", number},
          {"protocol", std::move(protocol)},
          {"targetPort", number}};
}

}  // namespace

Json service_ports(const JobSetSpec& spec, std::size_t limit) {
  Json out = Json::array();
  std::set<std::string> names;
  for (const ReplicatedJob& job : spec.jobs) {
    if (job.pod_template == nullptr) continue;
    for (const Json& container : array_at(*job.pod_template, {"spec", "containers"})) {
      for (const Json& declared : array_at(container, {"ports"})) {
        Json port = service_port(declared);
        if (port.is_null() || !names.insert(string_at(port, {"name"})).second) continue;
        if (out.size() == limit) return out;
        out.push_back(std::move(port));
      }
    }
  }
  return out;
}

}  // namespace tpuslice::jobset
