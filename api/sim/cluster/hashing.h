// Hashing: a hash that is the same on every machine and run, for seeded choices.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tpuslice::sim {

/// FNV-1a over the parts, each ended by a zero byte, finished so that nearby seeds differ in every bit.
[[nodiscard]] inline std::uint64_t hash_of(std::initializer_list<std::string_view> parts, std::uint64_t seed = 0) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3ULL; };
  for (const std::string_view part : parts) {
    for (const char character : part) mix(static_cast<unsigned char>(character));
    mix(0);
  }
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 33U);
}

}  // namespace tpuslice::sim
