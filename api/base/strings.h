// Small things done to text everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tpuslice {

/// Without spaces, tabs and line ends at either side.
[[nodiscard]] std::string trimmed(std::string_view text);

/// A to Z as a to z; every other byte as it is.
[[nodiscard]] std::string lower(std::string_view text);

/// As main() gets them: a pointer to each, and a null pointer. For exec, which does not say that it changes nothing.
[[nodiscard]] std::vector<char*> c_strings(std::vector<std::string>& texts);

}  // namespace tpuslice
