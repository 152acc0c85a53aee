// Steps of capacity and traffic: tables, and whole upgrades of all options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayservice/incremental_upgrade.h"

namespace tpuslice::rayservice {
namespace {

struct Step {
  const char* name;
  Progress now;  ///< Capacities, then traffic.
  bool rollback = false;
  Split capacity;  ///< Next.
  Split traffic;   ///< Next.
};

class IncrementalStep : public testing::TestWithParam<Step> {};

/// maxSurgePercent 30, stepSizePercent 20.
TEST_P(IncrementalStep, FollowsFromThePresentOne) {
  const Step& step = GetParam();
  EXPECT_EQ(next_capacity(step.now, 30, step.rollback), step.capacity);
  EXPECT_EQ(next_traffic(step.now, 20, step.rollback), step.traffic);
}

INSTANTIATE_TEST_SUITE_P(
    Upgrade, IncrementalStep,
    testing::Values(Step{"First", {{100, 0}, {100, 0}}, false, {100, 30}, {100, 0}},
                    Step{"TrafficFollowsCapacity", {{100, 30}, {100, 0}}, false, {100, 30}, {80, 20}},
                    Step{"TrafficEndsAtTheCapacity", {{100, 30}, {80, 20}}, false, {100, 30}, {70, 30}},
                    Step{"OldCapacityIsLowered", {{100, 30}, {70, 30}}, false, {70, 30}, {70, 30}},
                    Step{"NewCapacityIsRaised", {{70, 30}, {70, 30}}, false, {70, 60}, {70, 30}},
                    Step{"LastRaise", {{10, 90}, {10, 90}}, false, {10, 100}, {10, 90}},
                    Step{"LastLowering", {{10, 100}, {0, 100}}, false, {0, 100}, {0, 100}},
                    Step{"Complete", {{0, 100}, {0, 100}}, false, {0, 100}, {0, 100}},
                    Step{"ALargerSurgeDoesNotLowerBelowTheTraffic", {{90, 30}, {70, 30}}, false, {70, 30}, {70, 30}},
                    Step{"MoreTrafficThanCapacity", {{100, 30}, {50, 50}}, false, {100, 30}, {70, 30}}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Rollback, IncrementalStep,
    testing::Values(Step{"TrafficMovesBack", {{100, 30}, {70, 30}}, true, {100, 30}, {90, 10}},
                    Step{"TrafficEndsAtTheCapacity", {{100, 30}, {90, 10}}, true, {100, 30}, {100, 0}},
                    Step{"NewCapacityIsLowered", {{100, 30}, {100, 0}}, true, {100, 0}, {100, 0}},
                    Step{"OldCapacityIsRaised", {{70, 30}, {70, 30}}, true, {100, 30}, {70, 30}},
                    Step{"NewCapacityIsLoweredFirst", {{70, 60}, {70, 30}}, true, {70, 30}, {70, 30}},
                    Step{"Complete", {{100, 0}, {100, 0}}, true, {100, 0}, {100, 0}},
                    Step{"AtTheEndOfTheUpgrade", {{0, 100}, {0, 100}}, true, {30, 100}, {0, 100}},
                    Step{"MoreTrafficThanCapacity", {{50, 50}, {70, 30}}, true, {50, 50}, {50, 50}}),
    [](const auto& test) { return std::string(test.param.name); });

/// Steps until nothing changes; the number of steps. Checks the sum of the capacities, and that no cluster has more
/// traffic than capacity.
int run(Progress& now, int surge, int step, bool rollback, int limit = 1000) {
  for (int steps = 0; steps < limit; ++steps) {
    const Split capacity = next_capacity(now, surge, rollback);
    EXPECT_LE(capacity.sum(), 100 + surge) << surge << " " << step;
    if (capacity != now.capacity) {
      now.capacity = capacity;
    } else {
      const Split traffic = next_traffic(now, step, rollback);
      if (traffic == now.traffic) return steps;
      now.traffic = traffic;
    }
    EXPECT_EQ(now.traffic.sum(), 100);
    EXPECT_LE(now.traffic.active, now.capacity.active) << surge << " " << step;
    EXPECT_LE(now.traffic.pending, now.capacity.pending) << surge << " " << step;
  }
  return limit;
}

TEST(IncrementalUpgrade, EndsWithAllOptionsAndNeverExceedsTheSurge) {
  for (int surge = 1; surge <= 100; ++surge) {
    for (int step = 1; step <= surge; ++step) {
      Progress now;
      ASSERT_LT(run(now, surge, step, false), 1000) << surge << " " << step;
      EXPECT_TRUE(is_complete(now)) << surge << " " << step;
    }
  }
}

TEST(IncrementalUpgrade, CanGoBackFromEveryStep) {
  for (const int surge : {1, 10, 30, 33, 50, 99, 100}) {
    for (const int step : {1, 7, 10, 33}) {
      for (int steps = 0; steps < 60; ++steps) {
        Progress now;
        run(now, surge, std::min(step, surge), false, steps);
        ASSERT_LT(run(now, surge, std::min(step, surge), true), 1000) << surge << " " << step << " " << steps;
        EXPECT_TRUE(is_rolled_back(now, true)) << surge << " " << step << " " << steps;
      }
    }
  }
}

TEST(IncrementalUpgrade, ARolledBackClusterWithoutAHeadIsGivenUpWithItsCapacity) {
  EXPECT_FALSE(is_rolled_back({{100, 30}, {100, 0}}, true));
  EXPECT_TRUE(is_rolled_back({{100, 30}, {100, 0}}, false));
  EXPECT_FALSE(is_rolled_back({{100, 30}, {90, 10}}, false));
}

TEST(IncrementalUpgrade, WithoutSurgeNothingMoves) {
  Progress now;
  EXPECT_EQ(run(now, 0, 0, false), 0);
  EXPECT_FALSE(is_complete(now));
}

TEST(IncrementalUpgrade, AStatusWithoutSharesIsTheBeginning) {
  const Progress now = progress_of({}, {});
  EXPECT_EQ(now.capacity, (Split{100, 0}));
  EXPECT_EQ(now.traffic, (Split{100, 0}));
}

}  // namespace
}  // namespace tpuslice::rayservice
