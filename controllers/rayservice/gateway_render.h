// The writes of Gateways and HTTPRoutes, with upstream's events.
#pragma once

#include <string>

#include "controllers/plan/changes.h"
#include "controllers/rayservice/gateway_decisions.h"

namespace tpuslice::rayservice {

/// The action that deletes it, with its events.
[[nodiscard]] plan::Action delete_gateway(const OwnGateway& gateway, const std::string& why, plan::Changes& changes);

/// Adds what is decided to `stage`, and when it is looked at again.
void add_gateways(const RayServiceState& state, const GatewayDecision& decision, plan::Stage& stage,
                  plan::Changes& changes);

}  // namespace tpuslice::rayservice
