#include "cmd/tpu-slice-sim/patch/patch.h"

#include <fmt/format.h>

#include "api/types/patch.h"
#include "cmd/tpu-slice-sim/patch/apply.h"
#include "cmd/tpu-slice-sim/patch/strategic.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/decode.h"

namespace tpuslice::sim {
namespace {

Error rejected() {
  return Error(ErrorCode::kInvalid, "the server rejected our request due to an error in our request")
      .with_reason("Invalid");
}

/// Errors: more operations than are allowed.
Status check_operations(const Json& patch) {
  constexpr std::size_t kMaxOperations = 10'000;
  if (!patch.is_array()) {
    return bad_request("error decoding patch: a JSON patch must be a list");
  }
  if (patch.size() <= kMaxOperations) return {};
  return Error::invalid_argument("The allowed maximum operations in a JSON patch is {}, got {}", kMaxOperations,
                                 patch.size())
      .with_reason("RequestEntityTooLarge");
}

/// The API server's JSON patch library on a missing member: replace adds it, remove
/// does nothing. Null for an operation without effect.
Json lenient(const Json& document, Json operation) {
  const std::string op = string_at(operation, {"op"});
  const std::string path = string_at(operation, {"path"});
  if ((op != "replace" && op != "remove") || path.empty() || path.front() != '/') return operation;
  if (path.find('~') != std::string::npos) return operation;  // Escapes may be malformed.
  const Json::json_pointer pointer(path);
  if (document.contains(pointer)) return operation;
  const Json::json_pointer parent = pointer.parent_pointer();
  if (!document.contains(parent) || !document.at(parent).is_object()) return operation;
  if (op == "remove") return nullptr;
  operation["op"] = "add";
  return operation;
}

Result<Json> json_patch(const Json& current, const Json& patch) {
  RETURN_IF_ERROR(check_operations(patch));
  Json document = current;
  for (const Json& operation : patch) {
    const Json meant = lenient(document, operation);
    if (meant.is_null()) continue;
    Result<Json> patched = apply_json_patch(document, Json::array({meant}));
    if (!patched) return rejected();
    document = *std::move(patched);
  }
  return document;
}

Result<Json> strategic_patch(const Resource& resource, const Json& current, const Json& patch) {
  Result<Json> patched = apply_strategic_merge(builtin_schema(resource), current, patch);
  if (patched) return patched;
  const std::string& why = patched.error().message();
  return why.starts_with("map: ") ? unreasoned(500, why) : bad_request(why);
}

bool is_apply(std::string_view type) {
  return type == "application/apply-patch+yaml" || type == "application/apply-patch+json";
}

}  // namespace

Status check_patch_type(const Resource& resource, std::string_view type) {
  const bool strategic = type == "application/strategic-merge-patch+json";
  if (is_apply(type) || type == "application/json-patch+json" || type == "application/merge-patch+json") return {};
  if (strategic && !resource.custom) return {};
  if (!strategic) return Error::unsupported("415: Unsupported Media Type").with_reason("UnsupportedMediaType");
  return Error::unsupported(
             "the body of the request was in an unknown format - accepted media types include: "
             "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")
      .with_reason("UnsupportedMediaType");
}

Result<Json> parse_patch(std::string_view type, const std::string& body) {
  Result<Json> parsed = parse_json(body);
  if (!parsed) return bad_request("error decoding patch: " + parsed.error().message());
  if (type != "application/json-patch+json" && !parsed->is_object()) {
    return bad_request("error decoding patch: a merge patch must be an object");
  }
  return parsed;
}

Result<Json> apply_patch(const Resource& resource, const Json& current, std::string_view content_type,
                         const Json& patch, const PatchContext& context) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  RETURN_IF_ERROR(check_patch_type(resource, type));
  if (is_apply(type)) return apply_server_side(resource, current, patch, context);
  if (type == "application/json-patch+json") return json_patch(current, patch);
  if (!patch.is_object()) return bad_request("error decoding patch: a merge patch must be an object");
  if (type == "application/merge-patch+json") return apply_merge_patch(current, patch);
  return strategic_patch(resource, current, patch);
}

}  // namespace tpuslice::sim
