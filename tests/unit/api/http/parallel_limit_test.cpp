#include "api/http/client/parallel_limit.h"

#include <gtest/gtest.h>

namespace tpuslice::http {
namespace {

class ParallelLimitTest : public ::testing::Test {
 protected:
  /// So many requests under way together, answered with `status`.
  void answer(int requests, int status) {
    std::vector<Instant> entered;
    for (int i = 0; i < requests; ++i) {
      const auto in = enter();
      ASSERT_TRUE(in);
      entered.push_back(*in);
    }
    clock_.advance(std::chrono::milliseconds(1));
    for (const Instant each : entered) limit_.leave(each, status);
  }

  /// Does not wait.
  std::optional<Instant> enter() { return limit_.enter(clock_.now(), {}); }

  FakeClock clock_;
  ParallelLimit limit_{16, clock_};
};

TEST_F(ParallelLimitTest, RefusesAboveTheLimit) {
  answer(16, 200);
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(enter());
  EXPECT_FALSE(enter());
}

TEST_F(ParallelLimitTest, IsHalvedOnceByRequestsThatWereUnderWayTogether) {
  answer(16, 429);
  EXPECT_EQ(limit_.limit(), 8);
  answer(8, 429);
  EXPECT_EQ(limit_.limit(), 4);
}

TEST_F(ParallelLimitTest, IsAtLeastOne) {
  for (int i = 0; i < 10; ++i) answer(1, 429);
  EXPECT_EQ(limit_.limit(), 1);
}

TEST_F(ParallelLimitTest, GrowsByOneAfterAsManyOtherAnswers) {
  answer(16, 429);
  answer(8, 200);
  EXPECT_EQ(limit_.limit(), 9);
  answer(8, 404);
  EXPECT_EQ(limit_.limit(), 9);
  answer(1, 201);
  EXPECT_EQ(limit_.limit(), 10);
  for (int i = 0; i < 20; ++i) answer(10, 200);
  EXPECT_EQ(limit_.limit(), 16) << "no more than the maximum";
}

TEST_F(ParallelLimitTest, DoesNotGrowWithoutAnswers) {
  answer(16, 429);
  for (int i = 0; i < 20; ++i) answer(8, 0);
  EXPECT_EQ(limit_.limit(), 8);
}

}  // namespace
}  // namespace tpuslice::http
