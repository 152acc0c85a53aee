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

}  // namespace
}  // namespace tpuslice
