// The admission handler: no input crashes it, and its responses are consistent.
//
// An input that has a "request", or is not JSON, is sent as the body to every path. Another object is sent in the
// review of its creation; an array of two objects in the review of an update of the first to the second.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/base64.h"
#include "api/base/check.h"
#include "api/types/patch.h"
#include "tests/support/admission.h"
#include "tpu/rules/workload_kinds.h"
#include "webhook/admission_handler.h"
#include "webhook/workload_admission.h"

namespace tpuslice::webhook {
namespace {

constexpr std::string_view kUid = "0b8a4d6e-8d9b-4bb1-9b58-1c2d3e4f5a6b";

http::Response send(std::string_view path, std::string body) {
  return handle_admission({"POST", std::string(path), {}, std::move(body)}, with_kinds());
}

Json review_of(const Json& object, const Json& old) {
  const std::string version = string_at(object, {"apiVersion"});
  const std::size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request",
           {{"uid", kUid},
            {"kind", {{"group", group}, {"version", "v1"}, {"kind", string_at(object, {"kind"})}}},
            {"name", string_at(object, {"metadata", "name"})},
            {"namespace", "default"},
            {"operation", old.is_null() ? "CREATE" : "UPDATE"},
            {"object", object},
            {"oldObject", old}}}};
}

/// The path that an API server would use: kinds without rules go to the mutator.
std::string_view path_of(const Json& object) {
  const std::string kind = string_at(object, {"kind"});
  for (const rules::WorkloadKind* known : admission_kinds()) {
    if (known->kind == kind && !known->path.empty()) return known->path;
  }
  return kMutatePodPath;
}

/// The `response` of the reply; null if the request was not a valid review.
Json response_to(const Json& object, const Json& old = nullptr) {
  const http::Response sent = send(path_of(object), review_of(object, old).dump());
  if (sent.status != 200) {
    TPUSLICE_CHECK_MSG(sent.status == 400 && !sent.body.empty(), sent.body);
    return nullptr;
  }
  const Result<Json> review = parse_json(sent.body);
  TPUSLICE_CHECK_MSG(review.ok(), sent.body);
  const Json* response = find_path(*review, {"response"});
  TPUSLICE_CHECK_MSG(response != nullptr && response->is_object(), sent.body);
  TPUSLICE_CHECK_MSG(string_at(*response, {"uid"}) == kUid, sent.body);
  const Json* allowed = find_path(*response, {"allowed"});
  TPUSLICE_CHECK_MSG(allowed != nullptr && allowed->is_boolean(), sent.body);
  if (!allowed->get<bool>()) {
    const std::int64_t code = int_at(*response, {"status", "code"});
    TPUSLICE_CHECK_MSG(code == 422 || code == 403, sent.body);
    TPUSLICE_CHECK_MSG(!string_at(*response, {"status", "message"}).empty(), sent.body);
    TPUSLICE_CHECK_MSG(!response->contains("patch"), sent.body);
  }
  return *response;
}

bool allowed(const Json& response) { return bool_at(response, {"allowed"}); }

/// The object as the API server would store it.
Json patched(const Json& object, const Json& response) {
  if (!response.contains("patch")) return object;
  TPUSLICE_CHECK_MSG(string_at(response, {"patchType"}) == "JSONPatch", response.dump());
  const auto text = decode_base64(string_at(response, {"patch"}));
  TPUSLICE_CHECK_MSG(text.has_value(), response.dump());
  const Result<Json> patch = parse_json(*text);
  TPUSLICE_CHECK_MSG(patch.ok() && !patch->empty(), *text);
  const Result<Json> result = apply_json_patch(object, *patch);
  TPUSLICE_CHECK_MSG(result.ok(), *text + " of " + object.dump() + ": " + result.error().message());
  return *result;
}

void admit_creation(const Json& object) {
  const Json first = response_to(object);
  if (first.is_null() || !allowed(first)) return;
  const Json result = patched(object, first);
  const Json second = response_to(result);
  TPUSLICE_CHECK_MSG(allowed(second), result.dump() + ": " + second.dump());
  TPUSLICE_CHECK_MSG(!second.contains("patch"), result.dump() + ": " + second.dump());
}

/// An update that changes nothing must be admitted, so that users can label and delete invalid objects. Upstream's
/// webhook of LeaderWorkerSets rejects it, so that kind is exempt.
void admit_unchanged_update(const Json& object) {
  const Json response = response_to(object, object);
  const bool exempt = string_at(object, {"kind"}) == "LeaderWorkerSet";
  TPUSLICE_CHECK_MSG(response.is_null() || allowed(response) || exempt, response.dump());
}

void check_reply(std::string_view path, std::string_view body, bool is_json) {
  const http::Response response = send(path, std::string(body));
  TPUSLICE_CHECK_MSG(response.status == 400 || (response.status == 200 && is_json), response.body);
  TPUSLICE_CHECK(!response.body.empty());
}

void fuzz(std::string_view bytes) {
  const Result<Json> input = parse_json(bytes, {.bytes = kMaxReviewBytes});
  if (!input || input->contains("request")) {
    check_reply(kMutatePodPath, bytes, input.ok());
    for (const rules::WorkloadKind* kind : admission_kinds()) {
      if (!kind->path.empty()) check_reply(kind->path, bytes, input.ok());
    }
  } else if (input->is_object()) {
    admit_creation(*input);
    if (path_of(*input) != kMutatePodPath) admit_unchanged_update(*input);
  } else if (input->is_array() && input->size() == 2 && (*input)[0].is_object() && (*input)[1].is_object()) {
    static_cast<void>(response_to((*input)[1], (*input)[0]));
    admit_unchanged_update((*input)[1]);
  }
}

}  // namespace
}  // namespace tpuslice::webhook

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tpuslice::webhook::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
