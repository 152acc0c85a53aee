// Patches: the four ways a client can change an object without sending all of it, and who owns which field.
#pragma once

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "cmd/tpu-slice-sim/resources/resources.h"

namespace tpuslice::sim {

struct PatchContext {
  std::string field_manager;
  bool force = false;  ///< Server-side apply takes over fields of other managers.
  Timestamp now;
  std::string subresource;
};

/// The object after the patch, not yet defaulted or validated. `current` is null when an apply creates the object.
///
/// Content types: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json
/// (built-in resources only) and application/apply-patch+yaml (`patch` is the parsed body; the result carries new
/// metadata.managedFields). An apply that changes nothing returns `current` as it is, timestamps included.
///
/// Errors: Unsupported (415); InvalidArgument for a malformed patch; Invalid for a failed JSON patch; Conflict for an
/// apply, with kubectl's wording, from which api_errors.h reads details.causes.
[[nodiscard]] Result<Json> apply_patch(const Resource& resource, const Json& current, std::string_view content_type,
                                       const Json& patch, const PatchContext& context);

/// Errors: UnsupportedMediaType (415) for a Content-Type that patches nothing, or not this resource.
[[nodiscard]] Status check_patch_type(const Resource& resource, std::string_view type);
/// The body of a JSON, merge or strategic merge patch. Errors: BadRequest.
[[nodiscard]] Result<Json> parse_patch(std::string_view type, const std::string& body);

/// `after` with metadata.managedFields as an ordinary write by `manager` leaves them: what changed from `before` (null
/// on create) belongs to it, and no more to others. `operation` is "Update". Without a manager, and for an object that
/// has no managed fields yet and is not being created, fields are only taken away from their owners.
[[nodiscard]] Json update_managed_fields(const Resource& resource, const Json& before, Json after,
                                         std::string_view manager, std::string_view operation,
                                         std::string_view subresource, Timestamp now);

}  // namespace tpuslice::sim
