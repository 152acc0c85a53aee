#include "controllers/rayservice/gateway.h"

#include <array>

#include <fmt/format.h>

namespace tpuslice::rayservice {
namespace {

// Upstream's listener.
constexpr const char* kListener = "http";
constexpr int kListenerPort = 80;

const ObjectView* own(const RayServiceState& state, const ObjectPtr& object) {
  const bool ours =
      object != nullptr && !object->minimal && object->controller && object->controller->uid == state.spec.uid;
  return ours ? object.get() : nullptr;
}

}  // namespace

std::string gateway_name(const RayServiceSpec& spec) { return spec.key.name + "-gateway"; }

std::string http_route_name(const RayServiceSpec& spec) { return spec.key.name + "-httproute"; }

Object build_gateway(const RayServiceSpec& spec) {
  const std::string gateway_class = spec.incremental ? spec.incremental->gateway_class : std::string();
  const Json listener = {{"name", kListener}, {"protocol", "HTTP"}, {"port", kListenerPort}};
  return Object(Json{{"apiVersion", kGateways.api_version()},
                     {"kind", kGateways.kind},
                     {"metadata",
                      {{"name", gateway_name(spec)},
                       {"namespace", spec.key.namespace_name},
                       {"ownerReferences", Json::array({spec.owner.to_json()})}}},
                     {"spec", {{"gatewayClassName", gateway_class}, {"listeners", Json::array({listener})}}}});
}

const ObjectView* own_gateway(const RayServiceState& state) { return own(state, state.seen.gateways.gateway); }

const ObjectView* own_http_route(const RayServiceState& state) { return own(state, state.seen.gateways.http_route); }

Problem gateway_problem(const ObjectView& gateway) {
  const Object object = gateway.object();
  const Json& conditions = array_at(object.json(), {"status", "conditions"});
  for (const char* type : {"Accepted", "Programmed"}) {
    if (is_condition_true(conditions, type)) continue;
    const Json* found = find_condition(conditions, type);
    return {"GatewayNotReady", fmt::format("the condition {} of Gateway {} is {}", type, gateway.key.to_string(),
                                           found == nullptr ? "not set by a controller of its class"
                                                            : fmt::format("{}: {}", string_at(*found, {"status"}),
                                                                          string_at(*found, {"message"})))};
  }
  return {};
}

}  // namespace tpuslice::rayservice
