#include "webhook/admission_review.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/types/json_text.h"
#include "api/types/utf8.h"

namespace tpuslice::webhook {
namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kKind = "AdmissionReview";
constexpr std::size_t kMaxUid = 256;
constexpr std::size_t kMaxShownObjectName = 253;  // Kubernetes has no longer ones.
constexpr std::size_t kMaxWarningCharacters = 256;
constexpr std::size_t kMaxWarningBytes = 4096;  // Of all warnings.

Json encode_warnings(const std::vector<std::string>& warnings) {
  Json encoded = Json::array();
  std::size_t total = 0;
  for (const std::string& warning : warnings) {
    const std::string_view cut = first_utf8_characters(warning, kMaxWarningCharacters);
    total += cut.size();
    if (total > kMaxWarningBytes) break;
    encoded.push_back(cut);
  }
  return encoded;
}

std::string_view cause_reason(FieldProblem problem) {
  switch (problem) {
    case FieldProblem::kRequired:
      return "FieldValueRequired";
    case FieldProblem::kForbidden:
      return "FieldValueForbidden";
    case FieldProblem::kNotSupported:
      return "FieldValueNotSupported";
    case FieldProblem::kTooMany:
      return "FieldValueTooMany";
    case FieldProblem::kDuplicate:
      return "FieldValueDuplicate";
    case FieldProblem::kInvalid:
      break;
  }
  return "FieldValueInvalid";
}

Json encode_status(const AdmissionResponse& response) {
  Json status = {
      {"status", "Failure"}, {"code", response.code}, {"reason", response.reason}, {"message", response.message}};
  if (response.causes.empty()) return status;
  Json& details = status["details"];
  details = {{"group", response.group}, {"kind", response.kind}, {"name", response.name}};
  for (const FieldError& error :
       std::span(response.causes).first(std::min(response.causes.size(), kMaxReportedErrors))) {
    details["causes"].push_back(
        {{"reason", cause_reason(error.problem)}, {"message", error.problem_text()}, {"field", error.shown_path()}});
  }
  return status;
}

Json take_object(Json& request, std::string_view member) {
  const auto found = request.find(member);
  return found != request.end() && found->is_object() ? std::move(*found) : Json();
}

}  // namespace

Result<AdmissionRequest> decode_review(std::string_view body, std::span<const std::string_view> without) {
  ASSIGN_OR_RETURN(Json review,
                   parse_json(body, {.bytes = kMaxReviewBytes, .values = kMaxReviewValues, .without = without}));
  if (string_at(review, {"apiVersion"}) != kApiVersion || string_at(review, {"kind"}) != kKind) {
    return Error::invalid_argument("body is not an {} {}", kApiVersion, kKind);
  }
  const auto request = review.find("request");
  if (request == review.end() || !request->is_object())
    return Error::invalid_argument("admission review has no request");
  AdmissionRequest decoded;
  decoded.uid = string_at(*request, {"uid"});
  if (decoded.uid.empty() || decoded.uid.size() > kMaxUid) {
    return Error::invalid_argument("request.uid must have 1 to {} characters, has {}", kMaxUid, decoded.uid.size());
  }
  decoded.group = string_at(*request, {"kind", "group"});
  decoded.kind = string_at(*request, {"kind", "kind"});
  decoded.subresource = string_at(*request, {"subResource"});
  decoded.name = clip(string_at(*request, {"name"}), kMaxShownObjectName);
  decoded.namespace_name = string_at(*request, {"namespace"});
  decoded.operation = string_at(*request, {"operation"});
  decoded.object = take_object(*request, "object");
  decoded.old_object = take_object(*request, "oldObject");
  if (decoded.object.is_null() && decoded.operation != "DELETE" && decoded.operation != "CONNECT") {
    return Error::invalid_argument("request.object is missing on {}", decoded.operation.substr(0, 16));
  }
  return decoded;
}

std::string encode_review(std::string_view uid, const AdmissionResponse& response) {
  Json answer = {{"uid", uid}, {"allowed", response.allowed}};
  if (!response.allowed) answer["status"] = encode_status(response);
  if (!response.warnings.empty()) answer["warnings"] = encode_warnings(response.warnings);
  if (!response.audit.empty()) answer["auditAnnotations"] = response.audit;
  std::string members = print_json(answer);
  members.pop_back();  // The closing brace.
  if (response.allowed && !response.patch.empty()) {
    members += fmt::format(R"(,"patchType":"JSONPatch","patch":"{}")", encode_base64(print_json(response.patch)));
  }
  return fmt::format(R"({{"apiVersion":"{}","kind":"{}","response":{}}}}})", kApiVersion, kKind, members);
}

AdmissionResponse refuse(const AdmissionRequest& request, std::vector<FieldError> errors) {
  AdmissionResponse response;
  response.allowed = false;
  response.code = 422;
  response.reason = "Invalid";
  response.group = request.group;
  response.kind = request.kind;
  response.name = request.name;
  response.message =
      fmt::format("{}.{} \"{}\" is invalid: {}", request.kind, request.group, request.name, to_message(errors));
  response.causes = std::move(errors);
  return response;
}

}  // namespace tpuslice::webhook
