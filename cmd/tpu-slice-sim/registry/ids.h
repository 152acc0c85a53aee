// Ids: uids and generated names, derived from a seed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace tpuslice::sim {

/// Thread-safe. Uids are unique; suffixes may repeat, as on a real server.
class Ids {
 public:
  explicit Ids(std::uint64_t seed) : seed_(seed) {}

  /// A version 4 UUID.
  [[nodiscard]] std::string uid();
  /// The five characters that are appended to metadata.generateName: no vowels, no look-alikes.
  [[nodiscard]] std::string suffix();

 private:
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> uids_{0};
  std::atomic<std::uint64_t> suffixes_{0};
};

}  // namespace tpuslice::sim
