#include "webhook/admission_handler.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/types/patch.h"
#include "tpu/labels.h"
#include "webhook/rules/raycluster_validator.h"

namespace tpuslice::webhook {
namespace {

http::Response text_response(int status, std::string body) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

/// Errors of `errors` that are not among `before`, whatever values they found.
std::vector<FieldError> new_errors(std::vector<FieldError> errors, const std::vector<FieldError>& before) {
  std::erase_if(
      errors, [&](const FieldError& error) { return std::find(before.begin(), before.end(), error) != before.end(); });
  return errors;
}

std::vector<FieldError> all_errors(const Json& cluster, const Json* old) {
  std::vector<FieldError> errors = validate_raycluster(cluster, old);
  for (const UnservedField& field : unserved_fields(cluster)) {
    errors.push_back(
        forbidden(field.path, fmt::format("is not served by tpu-slice-operator: {}", field.reason), kOurRule));
  }
  return errors;
}

}  // namespace

AdmissionResponse admit_pod(const AdmissionRequest& request, const MutationOptions& options) {
  AdmissionResponse response;
  const bool is_pod = request.kind == "Pod" && request.group.empty() && request.subresource.empty();
  if (!is_pod || request.operation != "CREATE") return response;
  Json pod = request.object;
  // A pod of the default path has no namespace yet; the request knows it.
  Json& metadata = pod["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (metadata.is_object() && string_at(metadata, {"namespace"}).empty()) {
    metadata["namespace"] = request.namespace_name;
  }
  const Result<Json> mutated = mutate_pod(pod, options);
  if (!mutated) {
    response.allowed = false;
    response.code = 422;
    response.reason = "Invalid";
    response.message = mutated.error().message();
    return response;
  }
  if (*mutated != pod) {
    response.patch = json_diff(pod, *mutated);
    const std::string slice = string_at(*mutated, {"metadata", "labels", tpu::kSlice});
    if (!slice.empty()) response.audit["slice"] = slice;
  }
  response.warnings = warn_pod(pod);
  return response;
}

AdmissionResponse admit_raycluster(const AdmissionRequest& request) {
  AdmissionResponse response;
  const bool is_cluster = request.kind == "RayCluster" && request.group == "ray.io" && request.subresource.empty();
  const bool update = request.operation == "UPDATE";
  if (!is_cluster || (request.operation != "CREATE" && !update)) return response;
  const Json* old = update && request.old_object.is_object() ? &request.old_object : nullptr;
  std::vector<FieldError> errors = all_errors(request.object, old);
  if (old != nullptr) errors = new_errors(std::move(errors), all_errors(*old, nullptr));
  if (!errors.empty()) response = refuse(request, std::move(errors));
  response.warnings = warn_raycluster(request.object);
  return response;
}

http::Response handle_admission(const http::Request& request, const MutationOptions& options) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path != kMutatePodPath && path != kValidateRayClusterPath) {
    return text_response(404, fmt::format("paths are {} and {}\n", kMutatePodPath, kValidateRayClusterPath));
  }
  if (request.method != "POST") return text_response(405, "admission reviews are sent by POST\n");
  if (request.body.size() > kLongestReview) {
    return text_response(413, fmt::format("an admission review has at most {} bytes\n", kLongestReview));
  }
  const Result<AdmissionRequest> review = decode_review(request.body);
  if (!review) return text_response(400, review.error().message() + "\n");
  try {
    const AdmissionResponse response = path == kMutatePodPath ? admit_pod(*review, options) : admit_raycluster(*review);
    return {200, {{"Content-Type", "application/json"}}, encode_review(review->uid, response)};
  } catch (const Json::exception& error) {
    // A member of a type that no API server sends.
    return text_response(400, fmt::format("admission review is malformed: {}\n", error.what()));
  }
}

}  // namespace tpuslice::webhook
