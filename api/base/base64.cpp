#include "api/base/base64.h"

#include <algorithm>
#include <utility>

#include <openssl/evp.h>

#include "api/base/check.h"

namespace tpuslice {

std::string encode_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  TPUSLICE_CHECK(std::cmp_equal(length, text.size()));
  return text;
}

std::string encode_base64_url(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  text.erase(std::min(text.find('='), text.size()));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  // EVP_DecodeBlock takes the standard alphabet, padded, without white space inside.
  std::string padded;
  padded.reserve(text.size() + 2);
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    padded += c == '-' ? '+' : c == '_' ? '/' : c;
  }
  const std::size_t characters = std::min(padded.find('='), padded.size());
  const std::size_t padding = padded.size() - characters;
  const std::size_t missing = (4 - characters % 4) % 4;
  if (missing == 3 || (padding != 0 && padding != missing)) return std::nullopt;
  if (padded.find_first_not_of('=', characters) != std::string::npos) return std::nullopt;
  padded.resize(characters + missing, '=');

  std::string bytes(padded.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(padded.data()), static_cast<int>(padded.size()));
  if (length < 0) return std::nullopt;
  bytes.resize(bytes.size() - missing);
  return bytes;
}

}  // namespace tpuslice
