// Small things done to text everywhere.
#pragma once

#include <string>
#include <string_view>

namespace tpuslice {

/// Without spaces, tabs and line ends at either side.
[[nodiscard]] std::string trimmed(std::string_view text);

/// A to Z as a to z; every other byte as it is.
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace tpuslice
