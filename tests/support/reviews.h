// AdmissionReviews for tests.
#pragma once

#include <string>

#include "api/http/transport.h"
#include "api/types/json.h"

namespace tpuslice::webhook::testing {

inline Json review_of(const Json& object, const std::string& group, const std::string& kind,
                      const std::string& operation = "CREATE", const Json& old = nullptr) {
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request",
           {{"uid", "u-1"},
            {"kind", {{"group", group}, {"version", "v1"}, {"kind", kind}}},
            {"name", string_at(object, {"metadata", "name"})},
            {"namespace", "default"},
            {"operation", operation},
            {"object", object},
            {"oldObject", old}}}};
}

inline http::Request post(const std::string& target, const Json& review) {
  return {"POST", target, {{"Content-Type", "application/json"}}, review.dump()};
}

}  // namespace tpuslice::webhook::testing
