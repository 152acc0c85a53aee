// Scenes with the provisioning request of one slice.
#pragma once

#include <string>
#include <string_view>

#include "controllers/placement/scale_up/scouts.h"
#include "tests/unit/controllers/placement/decisions.h"

namespace tpuslice::placement {

/// Of the request, and of its template.
inline std::string name_of(const std::string& slice) { return "tpu-system/" + scale_up_name({"default", slice}); }

inline RequestChange ended(const std::string& condition, const std::string& message = {}, Duration when = {}) {
  return [=](ProvisioningRequestView& request) {
    request.ended = condition;
    request.message = message;
    request.changed = after(when);
  };
}
inline RequestChange provisioned(std::string_view provisioning_class = kCheckCapacityClass, Duration when = {}) {
  return [=](ProvisioningRequestView& request) {
    request.provisioned = true;
    request.provisioning_class = provisioning_class;
    request.changed = after(when);
  };
}
inline RequestChange of_class(std::string_view provisioning_class) {
  return [=](ProvisioningRequestView& request) { request.provisioning_class = provisioning_class; };
}

/// Slice x waits, and this is its request.
inline Scene waiting_with(const RequestChange& change, Duration now = std::chrono::minutes(1)) {
  return {.ready = slices_of({a_slice("x")}),
          .now = now,
          .provisioning = {.requests = {a_request("x", change)}, .templates = {a_template("x")}}};
}

}  // namespace tpuslice::placement
