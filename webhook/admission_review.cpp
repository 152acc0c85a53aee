#include "webhook/admission_review.h"

#include <algorithm>
#include <utility>

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
constexpr std::size_t kMaxWarningBytes = 4096;  // Maximum of all warnings.
constexpr std::size_t kMaxShortText = 512;      // A name or a path, and a message, in a shortened response.
constexpr std::size_t kMaxShortMessage = 4096;

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

std::string_view cause_reason(rules::FieldProblem problem) {
  switch (problem) {
    case rules::FieldProblem::kRequired:
      return "FieldValueRequired";
    case rules::FieldProblem::kForbidden:
      return "FieldValueForbidden";
    case rules::FieldProblem::kNotSupported:
      return "FieldValueNotSupported";
    case rules::FieldProblem::kTooMany:
      return "FieldValueTooMany";
    case rules::FieldProblem::kDuplicate:
      return "FieldValueDuplicate";
    case rules::FieldProblem::kInvalid:
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
  for (const rules::FieldError& error : response.causes) {
    details["causes"].push_back(
        {{"reason", cause_reason(error.problem)}, {"message", error.problem_text()}, {"field", error.shown_path()}});
  }
  return status;
}

/// "/spec/containers/0/env" as "spec.containers[0].env".
std::string field_of(std::string_view pointer) {
  std::string field;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    const bool is_index = !step.empty() && step.find_first_not_of("0123456789") == step.npos;
    field += is_index ? fmt::format("[{}]", step) : fmt::format("{}{}", field.empty() ? "" : ".", step);
  }
  return field;
}

struct LongestChange {
  std::string field;
  std::size_t bytes = 0;
};

/// The longest change; in a list of named members, such as environment variables, the longest member.
LongestChange longest_change(const Json& patch) {
  LongestChange longest;
  const auto compare = [&](const std::string& field, const Json& value) {
    const std::size_t bytes = print_json(value).size();
    if (bytes > longest.bytes) longest = {std::string(truncate_utf8(field, kMaxShortText)), bytes};
  };
  for (const Json& operation : patch) {
    const auto value = operation.find("value");
    if (value == operation.end()) continue;
    const std::string field = field_of(string_at(operation, {"path"}));
    const std::string name = string_at(*value, {"name"});
    if (!value->is_array()) compare(name.empty() ? field : fmt::format("{} ({})", field, name), *value);
    if (!value->is_array()) continue;
    for (std::size_t i = 0; i < value->size(); ++i) {
      const std::string member = string_at((*value)[i], {"name"});
      compare(fmt::format("{}[{}]{}", field, i, member.empty() ? "" : " (" + member + ")"), (*value)[i]);
    }
  }
  return longest;
}

/// What is sent in place of a response of so many bytes.
AdmissionResponse refuse_long_response(std::string_view name, const AdmissionResponse& response, std::size_t bytes) {
  AdmissionResponse refused;
  refused.allowed = false;
  refused.code = response.allowed ? 422 : response.code;
  refused.reason = response.allowed ? "Invalid" : response.reason;
  const std::string_view shown = truncate_utf8(name, kMaxShortText);
  if (!response.allowed) {
    refused.message = truncate_utf8(response.message, kMaxShortMessage);
  } else if (response.patch.empty()) {
    refused.message = fmt::format("\"{}\": the response of {} bytes is too long, the limit is {}: shorten the labels",
                                  shown, bytes, kMaxReplyBytes);
  } else {
    const LongestChange longest = longest_change(response.patch);
    refused.message = fmt::format(
        "\"{}\": {}: has {} bytes, and all fields that admission sets {}; they must have no more than {} together",
        shown, longest.field, longest.bytes, print_json(response.patch).size(), kMaxPatchBytes);
  }
  return refused;
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

std::string encode_limited_review(std::string_view uid, std::string_view name, AdmissionResponse& response) {
  std::string encoded = encode_review(uid, response);
  if (encoded.size() <= kMaxReplyBytes) return encoded;
  response = refuse_long_response(name, response, std::exchange(encoded, {}).size());
  return encode_review(uid, response);
}

AdmissionResponse refuse(const AdmissionRequest& request, const rules::FieldErrors& errors) {
  AdmissionResponse response;
  response.allowed = false;
  response.code = 422;
  response.reason = "Invalid";
  response.group = request.group;
  response.kind = request.kind;
  response.name = request.name;
  response.message =
      fmt::format("{}.{} \"{}\" is invalid: {}", request.kind, request.group, request.name, to_message(errors));
  response.causes.assign(errors.begin(), errors.end());
  return response;
}

}  // namespace tpuslice::webhook
