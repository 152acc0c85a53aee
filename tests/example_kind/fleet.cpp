#include "tests/example_kind/fleet.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/types/view_reader.h"
#include "controllers/plan/whole.h"

namespace tpuslice::example {
namespace {

Json config_map(const Object& fleet, const ObjectKey& key, const std::string& flag) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", key.name},
            {"namespace", key.namespace_name},
            {"annotations", {{kFlag, flag}}},
            {"ownerReferences", Json::array({fleet.as_controller().to_json()})}}}};
}

std::string flag_of(const ConfigMapView& config_map) {
  const auto found = config_map.annotations.find(kFlag);
  return found == config_map.annotations.end() ? "" : found->second;
}

}  // namespace

Result<ConfigMapView> ConfigMapView::decode(std::string_view json, const AnnotationPrefixes* keep) {
  ConfigMapView config_map;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decoder().decode("config map", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value, keep);
  }));
  RETURN_IF_ERROR(view::take_metadata("config map", std::move(metadata), config_map));
  return config_map;
}

Result<plan::Plan> FleetReconciler::plan(const plan::ReconcileInput& input) const {
  plan::Plan plan;
  const runtime::ObjectStore::Ptr fleet = fleets_.get(input.key);
  if (fleet == nullptr || fleet->deletion) return plan;
  if (auto waits = plan::wait_until_whole(input.key, fleet)) return *std::move(waits);
  const Object object = fleet->object();
  const Json& json = object.json();
  const std::string flag = string_at(json, {"spec", "flag"});
  const std::int64_t ships = std::clamp<std::int64_t>(int_at(json, {"spec", "ships"}), 0, kMaxShips);

  plan::Stage stage;
  for (std::int64_t i = 0; i < ships; ++i) {
    const ObjectKey key{input.key.namespace_name, input.key.name + "-" + std::to_string(i)};
    const auto live = config_maps_.get(key);
    if (live == nullptr) {
      stage.actions.push_back(plan::Action::create(kConfigMaps, Object(config_map(object, key, flag))));
    } else if (flag_of(*live) != flag) {
      Json patch = {{"metadata", {{"annotations", {{kFlag, flag}}}}}};
      stage.actions.push_back(plan::Action::patch(kConfigMaps, key, std::move(patch), {.uid = live->uid}));
    }
  }
  const auto owned = config_maps_by_owner_.lookup(fleet->uid);
  if (!stage.actions.empty()) {
    plan.reason = "create or update ConfigMaps";
    plan.stages.push_back(std::move(stage));
  }
  plan.status = plan::StatusPatch{{{"ships", owned.size()}}};
  return plan;
}

runtime::Controller& add_fleet(runtime::Manager& manager) {
  manager.keep_annotations({"example.com/"});
  auto& fleets = manager.store<ObjectView>(kFleets);
  auto& config_maps = manager.store<ConfigMapView>(kConfigMaps);
  runtime::Controller& controller = manager.add(
      std::make_unique<FleetReconciler>(fleets, config_maps, config_maps.add_index(runtime::owner_uid<ConfigMapView>)));
  controller.watches(fleets);
  controller.watches(config_maps);
  return controller;
}

}  // namespace tpuslice::example
