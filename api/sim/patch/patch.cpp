#include "api/sim/patch/patch.h"

#include <array>

#include <fmt/format.h>

#include "api/sim/api_errors.h"
#include "api/sim/patch/apply.h"
#include "api/sim/patch/strategic.h"
#include "api/sim/schema/builtin.h"
#include "api/types/patch.h"

namespace tpuslice::sim {
namespace {

/// Errors: what makes a JSON patch unreadable, as opposed to one that cannot be applied.
Status check_operations(const Json& patch) {
  constexpr std::size_t kMost = 10'000;
  static constexpr std::array<std::string_view, 6> kOperations = {"add", "remove", "replace", "move", "copy", "test"};
  if (!patch.is_array()) return bad_request("error decoding patch: a JSON patch is a list of operations");
  if (patch.size() > kMost) {
    return Error::invalid_argument("The allowed maximum operations in a JSON patch is {}, got {}", kMost, patch.size())
        .with_reason("RequestEntityTooLarge");
  }
  for (std::size_t i = 0; i < patch.size(); ++i) {
    const std::string op = string_at(patch[i], {"op"});
    if (std::find(kOperations.begin(), kOperations.end(), op) == kOperations.end()) {
      return bad_request(fmt::format("error decoding patch: operation {}: unexpected kind \"{}\"", i, op));
    }
    const Json* path = find_path(patch[i], {"path"});
    if (path == nullptr || !path->is_string()) {
      return bad_request(fmt::format("error decoding patch: operation {} ({}) has no path", i, op));
    }
  }
  return {};
}

Result<Json> json_patch(const Json& current, const Json& patch) {
  RETURN_IF_ERROR(check_operations(patch));
  Result<Json> patched = apply_json_patch(current, patch);
  if (patched) return patched;
  return Error::of(ErrorCode::kInvalid, "the server rejected our request due to an error in our request: {}",
                   patched.error().message())
      .with_reason("Invalid");
}

Result<Json> strategic_patch(const Resource& resource, const Json& current, const Json& patch) {
  Result<Json> patched = apply_strategic_merge(builtin_schema(resource), current, patch);
  if (patched) return patched;
  return bad_request(patched.error().message());
}

Error unsupported_media_type(const Resource& resource, std::string_view type) {
  std::string supported = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
  if (!resource.custom) supported += ", application/strategic-merge-patch+json";
  return Error::unsupported("the body of the request was in an unknown format ({}) - accepted media types include: {}",
                            type, supported)
      .with_reason("UnsupportedMediaType");
}

}  // namespace

Result<Json> apply_patch(const Resource& resource, const Json& current, std::string_view content_type,
                         const Json& patch, const PatchContext& context) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  if (type == "application/apply-patch+yaml" || type == "application/apply-patch+json") {
    return apply_server_side(resource, current, patch, context);
  }
  if (type == "application/json-patch+json") return json_patch(current, patch);
  if (type == "application/merge-patch+json") {
    if (!patch.is_object()) return bad_request("error decoding patch: a merge patch is an object");
    return apply_merge_patch(current, patch);
  }
  if (type == "application/strategic-merge-patch+json" && !resource.custom) {
    return strategic_patch(resource, current, patch);
  }
  return unsupported_media_type(resource, type);
}

}  // namespace tpuslice::sim
