// The Gateway of a RayService with NewClusterWithIncrementalUpgrade, by which clients reach it. Upstream's name,
// listener and class.
#pragma once

#include <string>

#include "api/types/conditions.h"
#include "api/types/resource_type.h"
#include "controllers/plan/child.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

inline constexpr ResourceType kGateways{"gateway.networking.k8s.io", "v1", "Gateway", "gateways"};
inline constexpr ResourceType kHttpRoutes{"gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"};

/// "<service>-gateway"
[[nodiscard]] std::string gateway_name(const RayServiceSpec& spec);
/// "<service>-httproute"
[[nodiscard]] std::string http_route_name(const RayServiceSpec& spec);

/// One listener: HTTP, port 80.
[[nodiscard]] Object build_gateway(const RayServiceSpec& spec);

/// The observed one, or null; null as well if it belongs to another owner.
[[nodiscard]] const ObjectView* own_gateway(const RayServiceState& state);
[[nodiscard]] const ObjectView* own_http_route(const RayServiceState& state);

/// Why no traffic gets through the Gateway: its controller has not accepted it, or not programmed it.
[[nodiscard]] Problem gateway_problem(const ObjectView& gateway);

}  // namespace tpuslice::rayservice
