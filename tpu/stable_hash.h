// A 64-bit hash that is the same in every build and process: for names, never for security.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace tpuslice::tpu {

/// FNV-1a, then SplitMix64's finaliser so that every digit depends on every character.
[[nodiscard]] inline std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31U);
}

/// 16 hexadecimal digits.
[[nodiscard]] inline std::string stable_hash_text(std::string_view text) {
  return fmt::format("{:016x}", stable_hash(text));
}

}  // namespace tpuslice::tpu
