// GatewayView: what a store keeps of a Gateway or an HTTPRoute.
//
// Upstream's have no label, so all of them are watched. Only those that a RayService controls are kept whole; of the
// others there are key and owner, as one of them may have a name that a RayService needs.
#pragma once

#include <string_view>

#include "api/types/views.h"

namespace tpuslice::rayservice {

struct GatewayView : ObjectView {
  static Result<GatewayView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<GatewayView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<GatewayView> from_json(const Json& json);

  friend bool operator==(const GatewayView&, const GatewayView&) = default;
};

}  // namespace tpuslice::rayservice
