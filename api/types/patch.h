// JSON patch (RFC 6902) and JSON merge patch (RFC 7386): applying them, and finding the one between two documents.
#pragma once

#include "api/types/json.h"

namespace tpuslice {

/// Applies the operations in order, all or none. Errors: InvalidArgument naming the operation and its path.
[[nodiscard]] Result<Json> apply_json_patch(Json document, const Json& patch);

/// The RFC 6902 patch that turns `before` into `after`; an empty array when they are equal. `at`: the JSON pointer of
/// both in the document that is patched.
[[nodiscard]] Json json_diff(const Json& before, const Json& after, std::string_view at = {});

/// Applies an RFC 7386 merge patch. Cannot fail: a patch that is not an object replaces the whole document.
[[nodiscard]] Json apply_merge_patch(Json document, const Json& patch);

/// The merge patch that turns `before` into `after`; an empty object when they are equal. Merge patches cannot set a
/// member to null, so a null in `after` reads as an absent member.
[[nodiscard]] Json merge_diff(const Json& before, const Json& after);

}  // namespace tpuslice
