// The webhook as a function from HTTP request to HTTP response, without I/O: the server calls it, tests call it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "api/http/transport.h"
#include "webhook/admission_review.h"
#include "webhook/rules/pod_mutator.h"

namespace tpuslice::webhook {

inline constexpr std::string_view kMutatePodPath = "/mutate-v1-pod";

struct AdmissionOptions {
  MutationOptions mutation;
  /// Kinds that our controllers serve: their fields that we do not serve are refused, too.
  std::set<std::string, std::less<>> served_kinds = {"JobSet", "RayCluster"};
};

/// Creation of a pod: its patch, or 422 if the pod contradicts itself. Anything else is allowed as it is.
[[nodiscard]] AdmissionResponse admit_pod(AdmissionRequest request, const MutationOptions& options);

/// True for the path of the pod mutator and those of workload_rules().
[[nodiscard]] bool is_admission_path(std::string_view path);

/// The answer to any request: 200 with a review, 400 for a body that is none, 404, 405 or 413.
[[nodiscard]] http::Response handle_admission(const http::Request& request, const AdmissionOptions& options);

}  // namespace tpuslice::webhook
