// Text: characters, trimming, splitting, letter case, integers.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tpuslice {

/// A to Z and a to z.
[[nodiscard]] constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }
[[nodiscard]] constexpr bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// Without spaces, tabs and line ends at both sides.
[[nodiscard]] std::string trimmed(std::string_view text);

/// The text with A to Z in lower case; every other byte stays.
[[nodiscard]] std::string to_lower(std::string_view text);

/// Whether both are equal when the case of A to Z is ignored.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

/// The parts between separators; no part for an empty text.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// The decimal integer that is all of `text`; std::nullopt for any other text and for a number out of range. A '-' may
/// precede the digits of a signed type.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> parse_integer(std::string_view text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return value;
}

/// An index or count: an integer from 0. Otherwise as parse_integer().
[[nodiscard]] std::optional<int> parse_count(std::string_view text);

/// Pointers to the texts and a null pointer, as posix_spawn() takes its arguments. They stay valid as long as `texts`.
[[nodiscard]] std::vector<char*> c_strings(std::vector<std::string>& texts);

}  // namespace tpuslice
