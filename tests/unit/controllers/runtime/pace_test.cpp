#include "controllers/runtime/pace.h"

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;

const ObjectKey kTrain{"default", "train"};
const ObjectKey kServe{"default", "serve"};
constexpr Instant kStart{1h};

TEST(Pace, HandlesTheFirstChangeOfAKeyAtOnce) {
  Pace pace(100ms, 9);
  EXPECT_EQ(pace.next(kTrain, kStart), kStart);
  pace.started(kTrain, kStart);
  EXPECT_EQ(pace.next(kServe, kStart), kStart) << "each key has a pace of its own";
}

TEST(Pace, HoldsAKeyFromTheStartOfItsReconcile) {
  Pace pace(100ms, 0);
  pace.started(kTrain, kStart);
  EXPECT_EQ(pace.next(kTrain, kStart), kStart + 100ms);
  EXPECT_EQ(pace.next(kTrain, kStart + 99ms), kStart + 100ms);
  EXPECT_EQ(pace.next(kTrain, kStart + 100ms), kStart + 100ms);
  EXPECT_EQ(pace.next(kTrain, kStart + 5s), kStart + 5s);
  EXPECT_EQ(pace.planned(kTrain, 1h, kStart), std::nullopt) << "the length of the plan does not matter";
}

TEST(Pace, HoldsAKeyForAMultipleOfWhatItsPlanTook) {
  Pace pace(Duration::zero(), 9);
  pace.started(kTrain, kStart);
  EXPECT_EQ(pace.next(kTrain, kStart), kStart) << "nothing is known yet";
  EXPECT_EQ(pace.planned(kTrain, 100ms, kStart + 100ms), kStart + 1s);
  EXPECT_EQ(pace.next(kTrain, kStart + 100ms), kStart + 1s);
  EXPECT_EQ(pace.planned(kTrain, Duration::zero(), kStart + 2s), std::nullopt);
  EXPECT_EQ(pace.next(kTrain, kStart + 2s), kStart + 2s);
}

TEST(Pace, ShortPlansDoNotShortenTheHold) {
  Pace pace(100ms, 9);
  pace.started(kTrain, kStart);
  EXPECT_EQ(pace.planned(kTrain, 1ms, kStart + 1ms), kStart + 10ms);
  EXPECT_EQ(pace.next(kTrain, kStart + 1ms), kStart + 100ms);
}

TEST(Pace, EachReconcileOfAKeyReplacesItsHold) {
  Pace pace(100ms, 9);
  pace.started(kTrain, kStart);
  EXPECT_EQ(pace.planned(kTrain, 1s, kStart + 1s), kStart + 10s);
  pace.started(kTrain, kStart + 2s);
  EXPECT_EQ(pace.next(kTrain, kStart + 2s), kStart + 2s + 100ms);
}

TEST(Pace, DoesNotRememberKeysThatAreNoLongerHeld) {
  Pace pace(100ms, 0);
  for (int i = 0; i < 1000; ++i) pace.started({"default", std::to_string(i)}, kStart + i * 10ms);
  EXPECT_EQ(pace.size(), 10U);
  for (int i = 0; i < 1000; ++i) pace.started(kTrain, kStart + 1h + i * 1ms);
  EXPECT_EQ(pace.size(), 1U);
}

TEST(Pace, ALongHoldOnlyDelaysTheRemovalOfOthers) {
  Pace pace(100ms, 9);
  pace.started(kTrain, kStart);
  EXPECT_EQ(pace.planned(kTrain, 10s, kStart + 1ms), kStart + 90s + 1ms);
  pace.started(kServe, kStart + 1s);
  EXPECT_EQ(pace.next(kServe, kStart + 2s), kStart + 2s) << "remembered, but not held";
  pace.started(kServe, kStart + 1h);
  EXPECT_EQ(pace.size(), 1U);
}

}  // namespace
}  // namespace tpuslice::runtime
