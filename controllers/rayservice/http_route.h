// The HTTPRoute of a RayService with NewClusterWithIncrementalUpgrade: which part of the Gateway's traffic each cluster
// gets. Upstream's name, parent, match and backends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/rayservice/gateway.h"

namespace tpuslice::rayservice {

/// A cluster in the route, by its serve service (cluster_services.h).
struct Backend {
  const Cluster* cluster = nullptr;
  int weight = 0;
};

[[nodiscard]] Object build_http_route(const RayServiceSpec& spec, const std::vector<Backend>& backends);

/// Creates or restores it: parents, host names, matches, filters and backends are exactly those of `desired`.
[[nodiscard]] plan::ChildDecision decide_http_route(const Json& desired, const ObjectView* live);

/// The weight of this cluster; nothing if it is not in the route.
[[nodiscard]] std::optional<int> weight_of(const ObjectView& route, const std::string& cluster);

/// Why the route is not in effect at its Gateway.
[[nodiscard]] Problem http_route_problem(const RayServiceSpec& spec, const ObjectView& route);
/// The controller of the Gateway reports the present generation of the route, or does not report generations.
[[nodiscard]] bool is_programmed(const RayServiceSpec& spec, const ObjectView& route);

}  // namespace tpuslice::rayservice
