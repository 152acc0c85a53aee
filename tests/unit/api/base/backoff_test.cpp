#include "api/base/backoff.h"

#include <limits>

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using namespace std::chrono_literals;

TEST(ExponentialBackoff, DoublesUpToTheMaximum) {
  EXPECT_EQ(exponential_backoff(0, 10s, 1min), 0s);
  EXPECT_EQ(exponential_backoff(1, 10s, 1min), 10s);
  EXPECT_EQ(exponential_backoff(2, 10s, 1min), 20s);
  EXPECT_EQ(exponential_backoff(3, 10s, 1min), 40s);
  EXPECT_EQ(exponential_backoff(4, 10s, 1min), 1min);
  EXPECT_EQ(exponential_backoff(std::numeric_limits<int>::max(), 10s, 1min), 1min);
  EXPECT_EQ(exponential_backoff(1, 2min, 1min), 1min);
  EXPECT_EQ(exponential_backoff(-1, 10s, 1min), 0s);
}

TEST(Backoff, DoublesUpToTheCapAndBeginsAgainAfterAQuietTime) {
  Random random(1);
  Backoff backoff({.first = 10s, .cap = 1min, .jitter = 0, .reset_after = 2min});
  Instant now;
  for (const Duration expected : {Duration(10s), Duration(20s), Duration(40s), Duration(1min), Duration(1min)}) {
    const Duration wait = backoff.next(now, random);
    EXPECT_EQ(wait, expected);
    now += wait;
  }
  now += 2min;
  EXPECT_EQ(backoff.next(now, random), 1min);
  now += 1min + 2min + 1ns;
  EXPECT_EQ(backoff.next(now, random), 10s);
}

TEST(Backoff, AddsJitterThatDoesNotAddUp) {
  Random random(1);
  Backoff backoff({.first = 10s, .cap = 20s, .jitter = 0.5});
  const Duration first = backoff.next(Instant(), random);
  EXPECT_GE(first, 10s);
  EXPECT_LT(first, 15s);
  for (int i = 0; i < 20; ++i) {
    const Duration wait = backoff.next(Instant(), random);
    EXPECT_GE(wait, 20s);
    EXPECT_LT(wait, 30s);
  }
}

}  // namespace
}  // namespace tpuslice
