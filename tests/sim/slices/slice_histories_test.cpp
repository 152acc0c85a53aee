// Random histories of slices. TPUSLICE_HISTORY=<seed> tells that one with its timeline; TPUSLICE_HISTORIES=<n> runs
// that many, from TPUSLICE_HISTORY_FROM on.
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

TEST(SliceHistories, LeaveNoSliceInPart) {
  const std::uint64_t only = number_of("TPUSLICE_HISTORY", 0);
  if (only != 0) {
    const Verdict verdict = tell_history(only, true);
    fmt::print("{}", verdict.timeline);
    ASSERT_EQ(verdict.broken, "");
    return;
  }
  const std::uint64_t count = number_of("TPUSLICE_HISTORIES", 500);
  const std::uint64_t from = number_of("TPUSLICE_HISTORY_FROM", 1);
  std::int64_t run = 0;
  std::int64_t waiting = 0;
  std::int64_t steps = 0;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    const Verdict verdict = tell_history(seed);
    run += verdict.slices_run;
    waiting += verdict.slices_waiting;
    steps += verdict.steps;
    if (verdict.broken.empty()) continue;
    fmt::print("{}", tell_history(seed, true).timeline);
    FAIL() << verdict.broken << "; tell it again with TPUSLICE_HISTORY=" << seed;
  }
  fmt::print("{} histories, {} random steps: at the end {} slices ran whole and {} waited whole\n", count, steps, run,
             waiting);
  EXPECT_GT(run, 0);
  EXPECT_GT(waiting, 0);
}

}  // namespace
}  // namespace tpuslice::testing
