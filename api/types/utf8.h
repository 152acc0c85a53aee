// UTF-8: what may be stored in JSON, and how long it is. Truncating never splits a character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tpuslice {

/// Whether the bytes are well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

/// The number of characters (code points) of a UTF-8 text.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// The longest prefix of whole characters that has at most `max_bytes` bytes.
[[nodiscard]] std::string_view truncate_utf8(std::string_view text, std::size_t max_bytes);

/// The first `max_bytes` bytes of `text`, in whole characters, and "..." if it is longer.
[[nodiscard]] std::string clip(std::string text, std::size_t max_bytes);

/// The first `max_characters` characters.
[[nodiscard]] std::string_view first_utf8_characters(std::string_view text, std::size_t max_characters);

}  // namespace tpuslice
