// The writes of Gateways and HTTPRoutes, with upstream's events.
#pragma once

#include <cstdint>
#include <string>

#include "controllers/plan/changes.h"
#include "controllers/rayservice/gateway_decisions.h"

namespace tpuslice::rayservice {

/// The action that deletes it, and what is reported of it.
struct GatewayDelete {
  plan::Action action;
  plan::ActionEvents events;
};
[[nodiscard]] GatewayDelete gateway_delete(const OwnGateway& gateway, const std::string& why);

/// Adds it to the stage `step`.
template <typename Step>
void delete_gateway(const OwnGateway& gateway, const std::string& why, Step step, plan::Changes& changes) {
  GatewayDelete out = gateway_delete(gateway, why);
  changes.reasons.push_back(fmt::format("{}: deleting {} {}", why, gateway.type.kind, gateway.live->key.name));
  changes.add(step, std::move(out.action), std::move(out.events));
}

/// Adds what is decided to `stage`, and when it is looked at again.
void add_gateways(const RayServiceState& state, const GatewayDecision& decision, plan::Stage& stage,
                  plan::Changes& changes);

}  // namespace tpuslice::rayservice
