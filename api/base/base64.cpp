#include "api/base/base64.h"

#include <cstdint>

namespace tpuslice {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  char* out = text.data();
  const auto byte = [&](std::size_t at) { return std::uint32_t{static_cast<unsigned char>(bytes[at])}; };
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const std::uint32_t window = (byte(at) << 16U) | (byte(at + 1) << 8U) | byte(at + 2);
    *out++ = alphabet[window >> 18U];
    *out++ = alphabet[(window >> 12U) & 63U];
    *out++ = alphabet[(window >> 6U) & 63U];
    *out++ = alphabet[window & 63U];
  }
  if (at < bytes.size()) {  // One byte is two characters, two are three.
    const bool two = at + 2 == bytes.size();
    const std::uint32_t window = (byte(at) << 16U) | (two ? byte(at + 1) << 8U : 0U);
    *out++ = alphabet[window >> 18U];
    *out++ = alphabet[(window >> 12U) & 63U];
    if (two) *out++ = alphabet[(window >> 6U) & 63U];
  }
  text.resize(static_cast<std::size_t>(out - text.data()));
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
