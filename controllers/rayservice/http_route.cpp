#include "controllers/rayservice/http_route.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/drift.h"
#include "controllers/rayservice/cluster_services.h"
#include "controllers/rayservice/serve_labels.h"

namespace tpuslice::rayservice {
namespace {

const Json& rules_of(const Json& route) { return array_at(route, {"spec", "rules"}); }

/// Whether the rules do what the desired ones do. The API server adds defaults to backends, and to nothing else.
bool has_rules(const Json& live, const Json& desired) {
  return plan::has_all(live, desired) && std::ranges::equal(live, desired, [](const Json& a, const Json& b) {
           return array_at(a, {"filters"}).empty() && array_at(a, {"matches"}) == array_at(b, {"matches"});
         });
}

/// The whole list of rules is replaced: a merge patch does not reach into lists.
Json restore(const Json& desired, const Json& live) {
  Json patch = Json::object();
  const Json& parents = *find_path(desired, {"spec", "parentRefs"});
  if (!plan::has_all(array_at(live, {"spec", "parentRefs"}), parents)) patch["parentRefs"] = parents;
  if (!array_at(live, {"spec", "hostnames"}).empty()) patch["hostnames"] = nullptr;
  if (!has_rules(rules_of(live), rules_of(desired))) patch["rules"] = rules_of(desired);
  return patch.empty() ? Json() : Json{{"spec", std::move(patch)}};
}

Json backend_json(const RayServiceSpec& spec, const Backend& backend) {
  return {{"name", cluster_serve_service_name(*backend.cluster)},
          {"namespace", spec.key.namespace_name},
          {"port", serve_port(*backend.cluster)},
          {"weight", backend.weight}};
}

/// Visits the conditions that controllers report of the route at its Gateway.
template <typename Visit>
void each_parent(const RayServiceSpec& spec, const Json& route, const Visit& visit) {
  for (const Json& parent : array_at(route, {"status", "parents"})) {
    const std::string other = string_at(parent, {"parentRef", "namespace"}, spec.key.namespace_name);
    if (string_at(parent, {"parentRef", "name"}) != gateway_name(spec) || other != spec.key.namespace_name) continue;
    visit(array_at(parent, {"conditions"}));
  }
}

}  // namespace

Object build_http_route(const RayServiceSpec& spec, const std::vector<Backend>& backends) {
  Json refs = Json::array();
  for (const Backend& backend : backends) refs.push_back(backend_json(spec, backend));
  const Json parent = {{"name", gateway_name(spec)}, {"namespace", spec.key.namespace_name}};
  const Json match = {{"path", {{"type", "PathPrefix"}, {"value", "/"}}}};
  const Json rule = {{"matches", Json::array({match})}, {"backendRefs", std::move(refs)}};
  return Object(Json{{"apiVersion", kHttpRoutes.api_version()},
                     {"kind", kHttpRoutes.kind},
                     {"metadata",
                      {{"name", http_route_name(spec)},
                       {"namespace", spec.key.namespace_name},
                       {"ownerReferences", Json::array({spec.owner.to_json()})}}},
                     {"spec", {{"parentRefs", Json::array({parent})}, {"rules", Json::array({rule})}}}});
}

plan::ChildDecision decide_http_route(const Json& desired, const ObjectView* live) {
  return plan::decide_by_owner(desired, live, [&](const Json& found) { return restore(desired, found); });
}

std::optional<int> weight_of(const ObjectView& route, const std::string& cluster) {
  const Object object = route.object();
  const std::string name = cluster_serve_service_name(cluster);
  for (const Json& rule : rules_of(object.json())) {
    for (const Json& backend : array_at(rule, {"backendRefs"})) {
      if (string_at(backend, {"name"}) != name) continue;
      return static_cast<int>(std::clamp<std::int64_t>(int_at(backend, {"weight"}, 1), 0, 100));
    }
  }
  return std::nullopt;
}

Problem http_route_problem(const RayServiceSpec& spec, const ObjectView& route) {
  const Object object = route.object();
  std::string found = "no controller of the Gateway has accepted it";
  bool ready = false;
  each_parent(spec, object.json(), [&](const Json& conditions) {
    const bool accepted = is_condition_true(conditions, "Accepted");
    ready = ready || (accepted && is_condition_true(conditions, "ResolvedRefs"));
    const Json* condition = find_condition(conditions, accepted ? "ResolvedRefs" : "Accepted");
    if (condition != nullptr) found = string_at(*condition, {"message"});
  });
  if (ready) return {};
  return {"HTTPRouteNotReady", fmt::format("HTTPRoute {} is not in effect: {}", route.key.to_string(), found)};
}

bool is_programmed(const RayServiceSpec& spec, const ObjectView& route) {
  const Object object = route.object();
  const std::int64_t generation = object.generation();
  bool programmed = false;
  each_parent(spec, object.json(), [&](const Json& conditions) {
    const Json* accepted = find_condition(conditions, "Accepted");
    programmed =
        programmed || (accepted != nullptr && int_at(*accepted, {"observedGeneration"}, generation) >= generation);
  });
  return programmed;
}

}  // namespace tpuslice::rayservice
