// AdmissionReview v1: request and response of a webhook call.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/http/transport.h"
#include "cmd/tpu-slice-sim/admission/matching.h"

namespace tpuslice::sim {

struct Verdict {
  bool allowed = false;
  Json status;  ///< metav1.Status of a refusal, or null.
  Json patch;   ///< JSON patch, null without one.
  std::vector<std::string> warnings;
};

/// The POST of the review. Errors: InvalidArgument for a clientConfig without a valid address.
[[nodiscard]] Result<http::Request> review_request(const Webhook& webhook, const AdmissionRequest& request,
                                                   const Json& object, const std::string& uid);

/// Errors: Internal if the response is not a valid AdmissionReview.
[[nodiscard]] Result<Verdict> read_review(const http::Response& response, const std::string& uid);

/// The error for the client.
[[nodiscard]] Error denied(const std::string& webhook, const Json& status);

[[nodiscard]] Duration timeout_of(const Webhook& webhook);

}  // namespace tpuslice::sim
