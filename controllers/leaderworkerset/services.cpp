#include "controllers/leaderworkerset/services.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/labels.h"
#include "controllers/runtime/headless_service.h"

namespace tpuslice::leaderworkerset {
namespace {

Json headless_service(const LeaderWorkerSetSpec& spec, const std::string& name, const StringMap& selector,
                      const ControllerRef& owner) {
  return {{"apiVersion", kServices.api_version()},
          {"kind", kServices.kind},
          {"metadata",
           {{"name", name},
            {"namespace", spec.key.namespace_name},
            {"labels", {{tpu::kLwsName, spec.key.name}}},
            {"ownerReferences", Json::array({owner.to_json()})}}},
          {"spec", {{"clusterIP", "None"}, {"selector", selector}, {"publishNotReadyAddresses", true}}}};
}

/// Why somebody else's service does not give our pods their names; empty if it does.
std::string shortcoming_of(const StringMap& selector, const ServiceView& live) {
  if (!live.headless) return "it is not headless (spec.clusterIP: None)";
  if (!live.publishes_not_ready) return "it does not publish addresses that are not ready";
  if (live.selector == selector) return {};
  return fmt::format("its selector is not {}", Json(selector).dump());
}

}  // namespace

Json build_shared_service(const LeaderWorkerSetSpec& spec) {
  return headless_service(spec, spec.key.name, {{std::string(tpu::kLwsName), spec.key.name}}, spec.owner);
}

Json build_group_service(const LeaderWorkerSetSpec& spec, const Leader& leader) {
  const ControllerRef owner{std::string(kPods.version), std::string(kPods.kind), leader.name, leader.uid};
  return headless_service(
      spec, leader.name,
      {{std::string(tpu::kLwsName), spec.key.name}, {std::string(tpu::kLwsGroupIndex), std::to_string(leader.group)}},
      owner);
}

ServiceVerdict judge_service(const Json& wanted, const ServiceView* live) {
  using enum ServiceVerdict::Kind;
  if (live == nullptr) return {kMissing, {}, {}};
  const Object object(wanted);
  const std::optional<ControllerRef> owner = object.controller();
  const StringMap selector = string_map_at(wanted, {"spec", "selector"});
  if (live->deletion) return {kLeaving, {}, {}};
  if (live->controller && owner && live->controller->uid == owner->uid) {
    // An address is given once and for all.
    if (!live->headless) return {kForeign, {}, "is not headless (spec.clusterIP: None): delete it"};
    Json patch = runtime::restore_service({selector, true}, *live);
    return patch.is_null() ? ServiceVerdict{} : ServiceVerdict{kDrifted, std::move(patch), {}};
  }
  const bool of_earlier_owner = live->controller && owner && live->controller->kind == owner->kind &&
                                live->controller->name == owner->name &&
                                live->controller->api_version == owner->api_version;
  if (of_earlier_owner) return {kLeaving, {}, {}};
  std::string flaw = shortcoming_of(selector, *live);
  if (flaw.empty()) return {};
  return {kForeign,
          {},
          fmt::format("{} and does not serve the pods of this set: {}", runtime::describe_owner(*live), flaw)};
}

}  // namespace tpuslice::leaderworkerset
