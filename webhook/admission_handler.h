// The webhook as a function from HTTP request to HTTP response, without I/O.
#pragma once

#include <string_view>

#include "api/http/transport.h"
#include "tpu/rules/pod_mutator.h"
#include "webhook/admission_review.h"

namespace tpuslice::webhook {

inline constexpr std::string_view kMutatePodPath = "/mutate-v1-pod";

/// The response to the creation of a pod: its patch, or 422 if the pod contradicts itself. Other requests are allowed
/// without a patch.
[[nodiscard]] AdmissionResponse admit_pod(AdmissionRequest request, const rules::MutationOptions& options);

/// What the log has of a review.
struct AdmissionRecord {
  std::string uid;  ///< The uid that the API server logs and sends to the client; empty if it could not be read.
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string operation;
  bool allowed = true;
  int code = 0;  ///< Only if not allowed, as is the message.
  std::string message;
};

/// 200 with a review of at most kMaxReplyBytes, 400 for a body that is not a review, 404, 405 or 413. Fills `record`
/// for reviews that are answered, if it is not null.
[[nodiscard]] http::Response handle_admission(const http::Request& request, const rules::MutationOptions& options,
                                              AdmissionRecord* record = nullptr);

}  // namespace tpuslice::webhook
