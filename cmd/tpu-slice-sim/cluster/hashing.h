// Hashing: a hash for seeded choices, the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "api/base/hash.h"

namespace tpuslice::sim {

/// FNV-1a over the zero-terminated parts, finalized so that similar seeds differ in every bit.
[[nodiscard]] inline std::uint64_t hash_of(std::initializer_list<std::string_view> parts, std::uint64_t seed = 0) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (const std::string_view part : parts) hash = fnv1a({"\0", 1}, fnv1a(part, hash));
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 33U);
}

}  // namespace tpuslice::sim
