// The table that `make bench` prints and docs/performance.md keeps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench.h"

namespace tpuslice::bench {

struct Measurements {
  int runs = 0;
  std::vector<std::pair<Shape, std::vector<Creation>>> creation;
  std::vector<Healing> healing;
  std::vector<Rest> rest;
  std::vector<ThroughWebhook> webhook;
  Duration rest_time{};
};

[[nodiscard]] double median(std::vector<double> values);

/// Markdown: medians, and the least and most where runs differ.
[[nodiscard]] std::string to_table(const Measurements& measurements);

/// Appends `table` to the file, under a heading with date, commit and machine. Errors: InvalidArgument.
Status record(const std::string& path, const std::string& table);

}  // namespace tpuslice::bench
