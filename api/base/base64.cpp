#include "api/base/base64.h"

#include <cstdint>

namespace tpuslice {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto append = [&](std::string_view group) {  // Three bytes are four characters, two are three, one is two.
    std::uint32_t window = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      window = (window << 8U) | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    const char characters[] = {alphabet[window >> 18U], alphabet[(window >> 12U) & 63U], alphabet[(window >> 6U) & 63U],
                               alphabet[window & 63U]};
    text.append(characters, group.size() + 1);
  };
  for (; bytes.size() >= 3; bytes.remove_prefix(3)) append(bytes.substr(0, 3));
  if (!bytes.empty()) append(bytes);
  return text;
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text = encode(bytes, kStandard);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string encode_base64_url(std::string_view bytes) { return encode(bytes, kUrl); }

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t window = 0;
  int bits = 0;
  std::size_t characters = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    ++characters;
    if (c == '=') {
      ++padding;
      continue;
    }
    std::size_t value = kStandard.find(c);
    if (value == std::string_view::npos) value = kUrl.find(c);
    if (value == std::string_view::npos || padding > 0) return std::nullopt;
    window = (window << 6U) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>((window >> static_cast<unsigned>(bits)) & 0xffU);
    }
  }
  const bool whole = padding == 0 ? characters % 4 != 1 : padding <= 2 && characters % 4 == 0;
  if (!whole) return std::nullopt;
  return bytes;
}

}  // namespace tpuslice
