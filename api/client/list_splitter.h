// Splits a List into its items without reading them: by counting braces outside of strings. No copy, no document tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::client {

/// The views are parts of the body.
struct SplitList {
  std::vector<std::string_view> items;
  std::string resource_version;
  std::string continue_token;
  std::int64_t remaining = 0;  ///< remainingItemCount
};

/// Errors: Internal for a body that is not a JSON object with balanced braces, whose items are not an array of objects,
/// or that has no metadata.resourceVersion.
[[nodiscard]] Result<SplitList> split_list(std::string_view body);

}  // namespace tpuslice::client
