#include "api/base/random.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace tpuslice {
namespace {

TEST(Random, RepeatsItselfForASeed) {
  Random a(7);
  Random b(7);
  Random c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto value = a.next();
    EXPECT_EQ(value, b.next());
    differs |= value != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, UniformIncludesBothEndsOfTheRange) {
  Random random(1);
  std::set<int> seen;
  for (int i = 0; i < 500; ++i) seen.insert(random.uniform(-2, 2));
  EXPECT_EQ(seen, (std::set<int>{-2, -1, 0, 1, 2}));
}

TEST(Random, UniformAcceptsTheWholeRangeOfAType) {
  Random random(1);
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_NE(random.uniform(Limits::min(), Limits::max()), random.uniform(Limits::min(), Limits::max()));
  EXPECT_EQ(random.uniform(5, 5), 5);
}

TEST(Random, JitterNeverShortens) {
  Random random(3);
  const Duration base = std::chrono::seconds(2);
  for (int i = 0; i < 1000; ++i) {
    const Duration wait = random.jitter(base, 0.5);
    EXPECT_GE(wait, base);
    EXPECT_LT(wait, std::chrono::seconds(3));
  }
}

}  // namespace
}  // namespace tpuslice
