#include "api/base/token_bucket.h"

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = Instant(1h);

/// How many tokens can be taken.
int take_all(TokenBucket& bucket, Instant now) {
  int taken = 0;
  while (bucket.try_take(now)) ++taken;
  return taken;
}

TEST(TokenBucket, HasABurstAndThenTheRate) {
  TokenBucket bucket(10, 3);
  EXPECT_EQ(take_all(bucket, kStart), 3);
  EXPECT_EQ(take_all(bucket, kStart + 99ms), 0);
  EXPECT_EQ(take_all(bucket, kStart + 100ms), 1);
  EXPECT_EQ(take_all(bucket, kStart + 350ms), 2);
  EXPECT_EQ(take_all(bucket, kStart + 400ms), 1) << "what is left of an interval counts";
  EXPECT_EQ(take_all(bucket, kStart + 1h), 3) << "no more than the burst";
}

TEST(TokenBucket, FillsByAnInterval) {
  TokenBucket bucket(5min, 2);
  EXPECT_EQ(take_all(bucket, kStart), 2);
  EXPECT_FALSE(bucket.try_take(kStart + 5min - 1ns));
  EXPECT_TRUE(bucket.try_take(kStart + 5min));
  EXPECT_FALSE(bucket.try_take(kStart + 5min));
}

TEST(TokenBucket, SaysHowLongATokenTakesThatIsNotThereYet) {
  TokenBucket bucket(10, 2);
  EXPECT_EQ(bucket.take(kStart), 0s);
  EXPECT_EQ(bucket.take(kStart), 0s);
  EXPECT_EQ(bucket.take(kStart), 100ms);
  EXPECT_EQ(bucket.take(kStart), 200ms);
  EXPECT_EQ(bucket.take(kStart + 200ms), 100ms);
  EXPECT_FALSE(bucket.try_take(kStart + 300ms)) << "it was taken before";
}

TEST(TokenBucket, IsFullOnceAllIsFilledIn) {
  TokenBucket bucket(1, 2);
  EXPECT_TRUE(bucket.is_full(kStart));
  EXPECT_EQ(take_all(bucket, kStart), 2);
  EXPECT_EQ(bucket.last_used(), kStart);
  EXPECT_FALSE(bucket.is_full(kStart + 1s));
  EXPECT_TRUE(bucket.is_full(kStart + 2s));
}

TEST(TokenBucket, GainsNothingFromATimeThatWasSeenBefore) {
  TokenBucket bucket(1, 1);
  EXPECT_TRUE(bucket.try_take(kStart));
  EXPECT_FALSE(bucket.try_take(kStart - 1s));
  EXPECT_FALSE(bucket.try_take(kStart + 999ms));
  EXPECT_TRUE(bucket.try_take(kStart + 1s));
}

}  // namespace
}  // namespace tpuslice
