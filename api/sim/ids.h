// Ids: uids and generated names, from a seed, so that one seed makes one world.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace tpuslice::sim {

/// Thread-safe. Never gives one value twice (uids), or rarely (suffixes, as on a real server).
class Ids {
 public:
  explicit Ids(std::uint64_t seed) : seed_(seed) {}

  /// A version 4 UUID.
  [[nodiscard]] std::string uid();
  /// Five characters, without vowels and look-alikes: what the server appends to metadata.generateName.
  [[nodiscard]] std::string suffix();

 private:
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> uids_{0};
  std::atomic<std::uint64_t> suffixes_{0};
};

}  // namespace tpuslice::sim
