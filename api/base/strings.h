// Small things done to text everywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuslice {

/// Without spaces, tabs and line ends at either side.
[[nodiscard]] std::string trimmed(std::string_view text);

/// A to Z as a to z; every other byte as it is.
[[nodiscard]] std::string lower(std::string_view text);

/// What is between the separators; nothing for an empty text.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// A number from 0 in decimal digits that is all of `text`, as indexes are in labels; nothing for any other, or for
/// more than an int holds.
[[nodiscard]] std::optional<int> whole_number(std::string_view text);

/// As main() gets them: a pointer to each, and a null pointer. For exec, which does not say that it changes nothing.
[[nodiscard]] std::vector<char*> c_strings(std::vector<std::string>& texts);

}  // namespace tpuslice
