// The tables that `make bench` prints and docs/performance.md records.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/bench.h"

namespace tpuslice::bench {

struct Measurements {
  int runs = 0;
  std::vector<std::pair<Shape, std::vector<Creation>>> creation;
  std::vector<Healing> healing;
  std::map<Kind, std::vector<Rest>> rest;
  std::vector<WebhookCost> webhook;
  std::map<RestartMethod, std::vector<Restart>> restarts;
  Duration rest_time{};
};

/// Markdown: medians and, if runs differ, minimum and maximum.
[[nodiscard]] std::string to_table(const Measurements& measurements);
}  // namespace tpuslice::bench
