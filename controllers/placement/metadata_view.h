// MetadataView: an object of which only the metadata matters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/types/views.h"

namespace tpuslice::placement {

struct MetadataView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  StringMap annotations;  ///< All.

  static Result<MetadataView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  friend bool operator==(const MetadataView&, const MetadataView&) = default;
};

}  // namespace tpuslice::placement
