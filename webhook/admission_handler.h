// The webhook as a function from HTTP request to HTTP response, without I/O: the server calls it, tests call it.
#pragma once

#include <string_view>

#include "api/http/transport.h"
#include "webhook/admission_review.h"
#include "webhook/rules/pod_mutator.h"

namespace tpuslice::webhook {

inline constexpr std::string_view kMutatePodPath = "/mutate-v1-pod";
inline constexpr std::string_view kValidateRayClusterPath = "/validate-ray-io-v1-raycluster";

/// Creation of a pod: its patch, or 422 if the pod contradicts itself. Anything else is allowed as it is.
[[nodiscard]] AdmissionResponse admit_pod(const AdmissionRequest& request, const MutationOptions& options);

/// Creation or update of a RayCluster: allowed, or 422 with everything that is wrong, fields that are not served
/// included. An update that leaves alone what was wrong already is let through, so that an object which is older than
/// the rules can still be labelled, finalized and deleted.
[[nodiscard]] AdmissionResponse admit_raycluster(const AdmissionRequest& request);

/// The answer to any request: 200 with a review, 400 for a body that is none, 404, 405 or 413.
[[nodiscard]] http::Response handle_admission(const http::Request& request, const MutationOptions& options);

}  // namespace tpuslice::webhook
