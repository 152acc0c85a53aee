#include "controllers/leaderworkerset/sets/services.h"

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"

namespace tpuslice::leaderworkerset {
namespace {

Json headless_service(const LeaderWorkerSetSpec& spec, const std::string& name, const StringMap& selector,
                      const ControllerRef& owner) {
  return {{"apiVersion", kServices.api_version()},
          {"kind", kServices.kind},
          {"metadata",
           {{"name", name},
            {"namespace", spec.key.namespace_name},
            {"labels", {{kLwsName, spec.key.name}}},
            {"ownerReferences", Json::array({owner.to_json()})}}},
          {"spec", {{"clusterIP", "None"}, {"selector", selector}, {"publishNotReadyAddresses", true}}}};
}

}  // namespace

Json build_shared_service(const LeaderWorkerSetSpec& spec) {
  return headless_service(spec, spec.key.name, {{std::string(kLwsName), spec.key.name}}, spec.owner);
}

Json build_group_service(const LeaderWorkerSetSpec& spec, const Leader& leader) {
  const ControllerRef owner{std::string(kPods.version), std::string(kPods.kind), leader.name, leader.uid};
  return headless_service(
      spec, leader.name,
      {{std::string(kLwsName), spec.key.name}, {std::string(kLwsGroupIndex), std::to_string(leader.group)}}, owner);
}

}  // namespace tpuslice::leaderworkerset
