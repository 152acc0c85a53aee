// Draws: random numbers of the distributions that traces need. Equal seeds and streams give equal draws.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/hash.h"
#include "api/base/random.h"

namespace tpuslice::fleet_bench {

/// Kubernetes prints times in whole seconds, so all times of a trace are whole seconds.
[[nodiscard]] inline Duration whole_seconds(double seconds) { return std::chrono::seconds(std::llround(seconds)); }
[[nodiscard]] inline double seconds_of(Duration time) { return std::chrono::duration<double>(time).count(); }
[[nodiscard]] inline double hours_of(Duration time) { return seconds_of(time) / 3600; }

class Draws {
 public:
  /// `stream` separates what is drawn for different purposes, so that a change of one does not change the others.
  Draws(std::uint64_t seed, std::string_view stream) : random_(fnv1a(stream, seed)) {}

  /// In [lowest, highest).
  double uniform(double lowest, double highest) { return random_.uniform(lowest, highest); }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  double exponential(double mean) { return -mean * std::log(1 - uniform(0, 1)); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
    return radius * std::cos(2 * std::numbers::pi * uniform(0, 1));
  }
  double log_normal(double median, double sigma) { return median * std::exp(sigma * normal()); }
  /// The index of one of the weights.
  std::size_t choice(std::initializer_list<double> weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    double left = uniform(0, sum);
    std::size_t index = 0;
    for (const double weight : weights) {
      if (left < weight) return index;
      left -= weight;
      ++index;
    }
    return weights.size() - 1;
  }

 private:
  Random random_;
};

}  // namespace tpuslice::fleet_bench
