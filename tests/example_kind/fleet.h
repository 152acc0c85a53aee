// Fleet: an example of a workload kind. It is made from the public interfaces of controllers/ and edits none of them.
//
// A Fleet of example.com/v1 owns one ConfigMap for each of its spec.ships:
//
//   {apiVersion: example.com/v1, kind: Fleet, metadata: {name: north}, spec: {ships: 3, flag: blue}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::example {

inline constexpr ResourceType kFleets{"example.com", "v1", "Fleet", "fleets"};
inline constexpr ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps"};
inline constexpr std::string_view kFlag = "example.com/flag";  ///< Annotation of a ConfigMap.
inline constexpr std::int64_t kMaxShips = 100;

/// The members of a ConfigMap that the controller reads.
struct ConfigMapView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  StringMap annotations;

  static Result<ConfigMapView> decode(std::string_view json, const AnnotationPrefixes* keep = nullptr);
  friend bool operator==(const ConfigMapView&, const ConfigMapView&) = default;
};

/// The stores outlive the reconciler.
class FleetReconciler final : public plan::Reconciler {
 public:
  FleetReconciler(const runtime::ObjectStore& fleets, const runtime::Store<ConfigMapView>& config_maps,
                  runtime::Index<ConfigMapView> config_maps_by_owner)
      : fleets_(fleets), config_maps_(config_maps), config_maps_by_owner_(config_maps_by_owner) {}

  [[nodiscard]] std::string name() const override { return "fleet"; }
  [[nodiscard]] ResourceType resource() const override { return kFleets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  const runtime::ObjectStore& fleets_;
  const runtime::Store<ConfigMapView>& config_maps_;
  const runtime::Index<ConfigMapView> config_maps_by_owner_;
};

/// Adds the stores, watches and controller of Fleets.
runtime::Controller& add_fleet(runtime::Manager& manager);

}  // namespace tpuslice::example
