#include "webhook/admission_probe.h"

#include "webhook/admission_review.h"

namespace tpuslice::webhook {

Object probe_object(const std::string& namespace_name) {
  return Object(Json({{"apiVersion", kLeases.api_version()},
                      {"kind", kLeases.kind},
                      {"metadata", {{"generateName", "tpu-slice-webhook-probe-"}, {"namespace", namespace_name}}},
                      {"spec", Json::object()}}));
}

http::Response answer_probe(const http::Request& request) {
  const Result<AdmissionRequest> review = decode_review(request.body);
  if (!review) {
    return {400, {{"Content-Type", "text/plain; charset=utf-8"}}, review.error().message() + "\n"};
  }
  AdmissionResponse response;
  response.patch.push_back(
      {{"op", "add"}, {"path", "/metadata/annotations"}, {"value", {{kReachedAnnotation, "true"}}}});
  return {200, {{"Content-Type", "application/json"}}, encode_review(review->uid, response)};
}

}  // namespace tpuslice::webhook
