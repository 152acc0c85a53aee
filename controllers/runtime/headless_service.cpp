#include "controllers/runtime/headless_service.h"

#include <utility>

#include <fmt/format.h>

namespace tpuslice::runtime {

Json restore_service(const HeadlessService& wanted, const ServiceView& live) {
  Json patch;
  if (live.selector != wanted.selector) {
    Json selector = wanted.selector;
    for (const auto& [key, value] : live.selector) {
      if (!selector.contains(key)) selector[key] = nullptr;
    }
    patch["spec"]["selector"] = std::move(selector);
  }
  if (live.publishes_not_ready != wanted.publish_not_ready) {
    patch["spec"]["publishNotReadyAddresses"] = wanted.publish_not_ready;
  }
  return patch;
}

std::string describe_owner(const ServiceView& live) {
  if (!live.controller) return "has no controller";
  return fmt::format("belongs to {} {}", live.controller->kind, live.controller->name);
}

}  // namespace tpuslice::runtime
