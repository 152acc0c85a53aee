#include "api/types/hash.h"

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

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

std::string short_hash(std::string_view text, std::size_t length) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  // 27^13 is the last power below 2^64.
  TPUSLICE_CHECK(length >= 1 && length <= 13);
  std::uint64_t hash = fnv1a(text);
  std::string result;
  for (std::size_t i = 0; i < length; ++i) {
    result += kAlphabet[hash % kAlphabet.size()];
    hash /= kAlphabet.size();
  }
  return result;
}

std::string sha256_hex(std::string_view bytes) { return digest_hex(EVP_sha256(), bytes); }
std::string sha1_hex(std::string_view bytes) { return digest_hex(EVP_sha1(), bytes); }

}  // namespace tpuslice
