#include "controllers/rayservice/gateway_view.h"

#include <utility>

#include "controllers/rayservice/rules/spec.h"

namespace tpuslice::rayservice {

Result<GatewayView> GatewayView::decode(std::string_view json, const KeptKeys* keep) {
  ASSIGN_OR_RETURN(ObjectView whole, ObjectView::decode(json, keep));
  GatewayView out{std::move(whole)};
  const auto& owner = out.controller;
  if (owner && owner->kind == kRayServices.kind && owner->api_version == kRayServices.api_version()) return out;
  out.labels = {};
  out.text = {};
  return out;
}

Result<GatewayView> GatewayView::decode_minimal(std::string_view json, const KeptKeys* keep) {
  ASSIGN_OR_RETURN(ObjectView minimal, ObjectView::decode_minimal(json, keep));
  return GatewayView{std::move(minimal)};
}

Result<GatewayView> GatewayView::from_json(const Json& json) { return decode(json.dump()); }

}  // namespace tpuslice::rayservice
