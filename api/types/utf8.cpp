#include "api/types/utf8.h"

#include <algorithm>

#include <simdjson.h>

namespace tpuslice {
namespace {

/// Whether a byte is not the first of its character.
bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::size_t utf8_length(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

std::string_view truncate_utf8(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && is_continuation(text[max_bytes])) --max_bytes;
  return text.substr(0, max_bytes);
}

std::string clip(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  return std::string(truncate_utf8(text, max_bytes)) + "...";
}

std::string_view first_utf8_characters(std::string_view text, std::size_t max_characters) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_continuation(text[at]) && characters++ == max_characters) return text.substr(0, at);
  }
  return text;
}

}  // namespace tpuslice
