#include "api/base/hash.h"

#include <array>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "api/base/check.h"

namespace tpuslice {
namespace {

std::string digest_hex(const EVP_MD* algorithm, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  TPUSLICE_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr) == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest.at(i));
  return hex;
}

}  // namespace

std::uint64_t fnv1a(std::string_view text, std::uint64_t before) {
  std::uint64_t hash = before;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

std::uint32_t fnv1_32(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash * 16777619U) ^ static_cast<unsigned char>(c);
  return hash;
}

std::string safe_encode(std::string text) {
  for (char& c : text) c = kSafeAlphabet[static_cast<unsigned char>(c) % kSafeAlphabet.size()];
  return text;
}

std::string short_hash(std::string_view text, std::size_t length) {
  // 27^13 is the last power below 2^64.
  TPUSLICE_CHECK(length >= 1 && length <= 13);
  std::uint64_t hash = fnv1a(text);
  std::string result;
  for (std::size_t i = 0; i < length; ++i) {
    result += kSafeAlphabet[hash % kSafeAlphabet.size()];
    hash /= kSafeAlphabet.size();
  }
  return result;
}

std::string sha256_hex(std::string_view bytes) { return digest_hex(EVP_sha256(), bytes); }
std::string sha1_hex(std::string_view bytes) { return digest_hex(EVP_sha1(), bytes); }

}  // namespace tpuslice
