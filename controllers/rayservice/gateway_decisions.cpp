#include "controllers/rayservice/gateway_decisions.h"

#include <algorithm>
#include <utility>

#include "api/base/strings.h"
#include "controllers/plan/conditions.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

using Kind = plan::ChildDecision::Kind;

GatewayChild child_of(const RayServiceState& state, const ResourceType& type, Object desired,
                      plan::ChildDecision decision, const ObjectPtr& live) {
  GatewayChild out{type, std::move(desired), std::move(decision)};
  // Lists are replaced as a whole.
  if (live != nullptr) out.preconditions = {.uid = live->uid, .resource_version = live->resource_version};
  if (!out.decision.conflict.empty()) {
    out.decision.conflict +=
        fmt::format(", but RayService {} needs that name: delete or rename one of them", state.spec.key.to_string());
  }
  return out;
}

Object desired_route(const RayServiceState& state, const ClusterChoice& choice, const Cluster& active,
                     const Split& traffic) {
  if (choice.pending == nullptr || choice.pending == &active) return build_http_route(state.spec, {{&active, kWhole}});
  return build_http_route(state.spec, {{&active, traffic.active}, {choice.pending, traffic.pending}});
}

Problem not_watched(const RayServiceState& state) {
  if (state.seen.gateways.absent) {
    return {std::string(kGatewayApiMissing),
            fmt::format("{} needs the Gateway API, which this Kubernetes cluster does not serve: install the "
                        "CustomResourceDefinitions of {} and a controller for GatewayClass {}; until then no upgrade "
                        "begins",
                        kIncrementalUpgrade, kGateways.group, state.spec.incremental->gateway_class)};
  }
  // An operator that has just started does not report what it does not know yet.
  const Json* ready = find_condition(state.conditions(), plan::kChildrenReady);
  const bool were_ready = ready != nullptr && string_at(*ready, {"status"}) == "True" &&
                          int_at(*ready, {"observedGeneration"}) == state.seen.service.generation();
  if (were_ready) return {};
  return {"ChildrenPending",
          "gateways and httproutes are not watched yet: if this lasts, the operator lacks the permissions of "
          "deploy/rbac"};
}

Problem problem_of(const RayServiceState& state, const GatewayDecision& decision) {
  for (const GatewayChild& child : decision.children) {
    if (!child.decision.conflict.empty()) {
      return {child.type == kGateways ? "GatewayConflict" : "HTTPRouteConflict", child.decision.conflict};
    }
  }
  const auto& failure = state.seen.last_failure;
  if (failure && (failure->reason == kFailedGateway || failure->reason == kFailedHttpRoute)) {
    return {failure->reason, failure->message};
  }
  std::string pending;
  for (const GatewayChild& child : decision.children) {
    const std::string_view text = plan::progress(child.decision.kind);
    if (text.empty()) continue;
    pending += fmt::format("{}{} {} {}", pending.empty() ? "" : "; ", child.type.kind, child.desired.name(), text);
  }
  if (!pending.empty()) return {"ChildrenPending", std::move(pending)};
  if (const ObjectView* gateway = own_gateway(state)) {
    if (Problem problem = gateway_problem(*gateway)) return problem;
  }
  if (const ObjectView* route = own_http_route(state)) return http_route_problem(state.spec, *route);
  return {};
}

}  // namespace

std::vector<OwnGateway> own_gateways(const RayServiceState& state) {
  std::vector<OwnGateway> out{{kHttpRoutes, own_http_route(state)}, {kGateways, own_gateway(state)}};
  std::erase_if(out, [](const OwnGateway& each) { return each.live == nullptr || each.live->deletion; });
  return out;
}

bool is_in_effect(const RayServiceState& state, const std::optional<Timestamp>& since) {
  const ObjectView* gateway = own_gateway(state);
  const ObjectView* route = own_http_route(state);
  if (!state.spec.incremental || !state.seen.gateways.watched || gateway == nullptr || route == nullptr) return false;
  if (gateway_problem(*gateway) || http_route_problem(state.spec, *route)) return false;
  return is_programmed(state.spec, *route) || !since || state.seen.now - *since >= state.spec.incremental->interval;
}

GatewayDecision decide_gateways(const RayServiceState& state, const ClusterChoice& choice, const Cluster* active,
                                const Split& traffic) {
  GatewayDecision out;
  if (!state.spec.incremental) {
    out.deletes = own_gateways(state);
    return out;
  }
  const ObservedGateways& seen = state.seen.gateways;
  if (!seen.watched) {
    out.problem = not_watched(state);
    return out;
  }
  Object gateway = build_gateway(state.spec);
  plan::ChildDecision gateway_decision = plan::decide_child(gateway.json(), seen.gateway.get());
  out.children.push_back(child_of(state, kGateways, std::move(gateway), std::move(gateway_decision), seen.gateway));
  if (active != nullptr) {
    Object route = desired_route(state, choice, *active, traffic);
    plan::ChildDecision decision = decide_http_route(route.json(), seen.http_route.get());
    out.routes_traffic = decision.kind == Kind::kNone;
    out.children.push_back(child_of(state, kHttpRoutes, std::move(route), std::move(decision), seen.http_route));
  }
  out.problem = problem_of(state, out);
  // The others are reconciled even if a policy refuses one of these.
  for (const std::string_view reason : {kFailedGateway, kFailedHttpRoute}) {
    if (!out.retry_after) out.retry_after = plan::until_retry(state.seen.last_failure, reason, state.seen.now);
  }
  if (out.retry_after) {
    std::erase_if(out.children, [&](const GatewayChild& child) {
      return (child.type == kGateways ? kFailedGateway : kFailedHttpRoute) == state.seen.last_failure->reason;
    });
  }
  return out;
}

bool is_routed_to(const RayServiceState& state, const Cluster& cluster) {
  if (!state.seen.gateways.watched) return false;
  const ObjectView* route = own_http_route(state);
  return route != nullptr && weight_of(*route, cluster.name()).has_value();
}

}  // namespace tpuslice::rayservice
