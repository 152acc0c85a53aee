// Random: a small seeded generator for jitter and for tests. Not for secrets.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "api/base/check.h"
#include "api/base/clock.h"

namespace tpuslice {

/// Thread-safe; used from one thread, equal seeds give equal sequences.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// SplitMix64: each call adds a constant, so an atomic counter is all the state there is.
  std::uint64_t next() {
    std::uint64_t z = state_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

  /// A whole number in [lowest, highest].
  template <std::integral T>
  T uniform(T lowest, T highest) {
    TPUSLICE_CHECK(lowest <= highest);
    const std::uint64_t span = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
    const std::uint64_t offset = span == 0 ? next() : next() % span;
    return static_cast<T>(static_cast<std::uint64_t>(lowest) + offset);
  }

  /// A number in [lowest, highest).
  double uniform(double lowest, double highest) {
    return lowest + (highest - lowest) * (static_cast<double>(next() >> 11U) * 0x1.0p-53);
  }

  /// A duration in [base, base * (1 + factor)).
  Duration jitter(Duration base, double factor) {
    return base + Duration(static_cast<Duration::rep>(static_cast<double>(base.count()) * uniform(0.0, factor)));
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  std::atomic<std::uint64_t> state_;
};

}  // namespace tpuslice
