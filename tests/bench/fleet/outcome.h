// Outcome: what a policy has made of a trace.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/bench/fleet/fleet_run.h"

namespace tpuslice::fleet_bench {

inline constexpr std::size_t kSizeClasses = 4;
/// By the chips of all slices of a job.
inline constexpr std::array<const char*, kSizeClasses> kSizeClassNames = {"up to 16", "17 to 64", "65 to 256",
                                                                          "more than 256"};
[[nodiscard]] constexpr std::size_t size_class(int chips) {
  return chips <= 16 ? 0 : chips <= 64 ? 1 : chips <= 256 ? 2 : 3;
}

/// Hours from the arrival of jobs until they first run. A job that has not run counts with its time until the end.
struct Waits {
  std::vector<double> hours;  ///< In ascending order.
  int not_started = 0;
};

/// Times are hours, amounts host-hours since measuring began.
struct Outcome {
  std::string policy;
  double capacity = 0;  ///< All hosts.
  double running = 0;
  double half_placed = 0;
  double useful = 0;
  double useful_in_all = 0;  ///< Since the start.
  RunCounts counts;
  std::array<Waits, kSizeClasses> waits;
  std::vector<double> restart_waits;  ///< In ascending order.
  std::vector<HourlySample> samples;
  double cpu_seconds = 0;
};

/// The smallest value that is not exceeded by this part of the values, which are in ascending order; 0 without any.
[[nodiscard]] inline double quantile(const std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace tpuslice::fleet_bench
