// Random histories of slices. TPUSLICE_HISTORY=<seed> prints the timeline of that one; TPUSLICE_HISTORIES=<n> runs n of
// them, from seed TPUSLICE_HISTORY_FROM.
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/slices/history.h"

namespace tpuslice::testing {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

TEST(SliceHistories, LeaveNoSlicePartlyRunning) {
  const std::uint64_t only = number_of("TPUSLICE_HISTORY", 0);
  if (only != 0) {
    const HistoryResult result = run_history(only, true);
    fmt::print("{}", result.timeline);
    ASSERT_EQ(result.broken, "");
    return;
  }
  const std::uint64_t count = number_of("TPUSLICE_HISTORIES", 500);
  const std::uint64_t from = number_of("TPUSLICE_HISTORY_FROM", 1);
  std::int64_t run = 0;
  std::int64_t waiting = 0;
  std::int64_t steps = 0;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    const HistoryResult result = run_history(seed);
    run += result.slices_run;
    waiting += result.slices_waiting;
    steps += result.steps;
    if (result.broken.empty()) continue;
    fmt::print("{}", run_history(seed, true).timeline);
    FAIL() << result.broken << "; print its timeline with TPUSLICE_HISTORY=" << seed;
  }
  fmt::print("{} histories, {} random steps: at the end {} slices ran whole and {} waited whole\n", count, steps, run,
             waiting);
  EXPECT_GT(run, 0);
  EXPECT_GT(waiting, 0);
}

}  // namespace
}  // namespace tpuslice::testing
