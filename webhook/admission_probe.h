// The probe of the webhook: an object that the operator creates by a dry run, to learn whether the API server's calls
// arrive. deploy/webhook sends these creations to kProbePath; the reply adds kReachedAnnotation to the object.
#pragma once

#include <string>
#include <string_view>

#include "api/http/transport.h"
#include "api/types/object.h"

namespace tpuslice::webhook {

inline constexpr std::string_view kProbePath = "/mutate-probe";
inline constexpr std::string_view kReachedAnnotation = "tpuslice.dev/webhook-reached";

/// A Lease, since the operator may create Leases in its namespace. Without a name: it is never stored.
[[nodiscard]] Object probe_object(const std::string& namespace_name);

/// The response to a review of the probe: a patch with the annotation. 400 for a body that is not a review.
[[nodiscard]] http::Response answer_probe(const http::Request& request);

}  // namespace tpuslice::webhook
