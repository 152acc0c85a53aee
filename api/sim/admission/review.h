// AdmissionReview v1: what is sent to a webhook, and what may come back.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/http/transport.h"
#include "api/sim/admission/matching.h"

namespace tpuslice::sim {

struct Verdict {
  bool allowed = false;
  Json status;  ///< metav1.Status of a refusal, or null.
  Json patch;   ///< JSON patch, null without one.
  std::vector<std::string> warnings;
};

/// POST of the review to the webhook's path. Errors: InvalidArgument for a clientConfig without a usable address.
[[nodiscard]] Result<http::Request> review_request(const Webhook& webhook, const AdmissionRequest& request,
                                                   const Json& object, const std::string& uid);

/// Errors: Internal, where the answer breaks the contract of webhooks.
[[nodiscard]] Result<Verdict> read_review(const http::Response& response, const std::string& uid);

/// The refusal a client sees.
[[nodiscard]] Error denied(const std::string& webhook, const Json& status);

[[nodiscard]] Duration timeout_of(const Webhook& webhook);

}  // namespace tpuslice::sim
