// TextTable: columns of text, aligned with spaces, as kubectl prints them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tpuslice {

struct TextTable {
  std::vector<std::string> header;             ///< Names of the columns, in upper case.
  std::vector<std::vector<std::string>> rows;  ///< Cells; missing ones at the end of a row are empty.
};

/// Number of characters of UTF-8 text: bytes that do not continue a character.
[[nodiscard]] std::size_t text_width(std::string_view text);

/// The text, cut after `width` characters; "..." replaces its last three characters then. `width` is at least 3.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t width);

/// The text with '?' for its control characters, so that text of users cannot steer a terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// A line per row. Columns are as wide as their longest cell, with three spaces between them, and no spaces at the end
/// of a line. Cells are printable().
[[nodiscard]] std::string to_text(const TextTable& table, bool with_header = true);

}  // namespace tpuslice
