// ConfigMapView: what a store keeps of the ConfigMap of a Fleet. A kind may decode children in a view of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/types/views.h"

namespace tpuslice::example {

struct ConfigMapView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  std::string flag;  ///< data.flag

  static Result<ConfigMapView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<ConfigMapView> from_json(const Json& json);
  friend bool operator==(const ConfigMapView&, const ConfigMapView&) = default;
};

}  // namespace tpuslice::example
