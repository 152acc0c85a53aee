// Errors with the messages of the Kubernetes API server, and their form on the wire (metav1.Status).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {

[[nodiscard]] Error not_found(const Resource& resource, std::string_view name);
[[nodiscard]] Error already_exists(const Resource& resource, std::string_view name);
/// `problem` completes "Operation cannot be fulfilled on pods "x": ...".
[[nodiscard]] Error conflict(const Resource& resource, std::string_view name, std::string_view problem);
/// The object was changed after it was read.
[[nodiscard]] Error stale(const Resource& resource, std::string_view name);
/// `object` does not have the uid in the precondition (`asked`).
[[nodiscard]] Error other_uid(const Resource& resource, const Json& object, std::string_view asked);
[[nodiscard]] Error forbidden(const Resource& resource, std::string_view name, std::string_view problem);
[[nodiscard]] Error bad_request(std::string message);
[[nodiscard]] Error invalid(const Resource& resource, std::string_view name, const std::vector<FieldProblem>& problems);
/// An error of query parameters.
[[nodiscard]] Error invalid_options(std::string_view problem);
[[nodiscard]] Error method_not_allowed();
[[nodiscard]] Error no_such_resource();
/// Errors that the API server returns as a Status without a reason.
[[nodiscard]] Error unreasoned(int code, std::string message);

/// The HTTP status of the response.
[[nodiscard]] int http_status(const Error& error);
/// metav1.Status of a failure. `details` are read from the message, which has one form for each reason.
[[nodiscard]] Json status_json(const Error& error);
/// metav1.Status of a deletion that is complete.
[[nodiscard]] Json success_json(const Resource& resource, const Json& deleted);

}  // namespace tpuslice::sim
