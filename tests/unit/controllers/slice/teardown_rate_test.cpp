#include "controllers/slice/teardown_rate.h"

#include <gtest/gtest.h>

#include "tests/support/slice/slices.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;

ObjectKey slice_number(int n) { return {"default", "s" + std::to_string(n)}; }

TEST(TeardownRate, IsTenAtOnceThenOneInEachInterval) {
  TeardownRate rate({.teardown_interval = 10s});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rate.turn_of(slice_number(i), after(1min)), after(1min));
  EXPECT_EQ(rate.turn_of(slice_number(10), after(1min)), after(1min + 10s));
  EXPECT_EQ(rate.turn_of(slice_number(11), after(1min)), after(1min + 20s));
  EXPECT_EQ(rate.turn_of(slice_number(10), after(1min + 30s)), after(1min + 10s)) << "its turn does not change";
  EXPECT_EQ(rate.turn_of(slice_number(12), after(1min + 25s)), after(1min + 30s));
}

TEST(TeardownRate, RecoversAfterTheLosses) {
  TeardownRate rate({.teardown_interval = 10s});
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(rate.turn_of(slice_number(i), after(0s)));
    rate.forget(slice_number(i));
  }
  EXPECT_EQ(rate.turn_of(slice_number(3), after(0s)), after(110s)) << "a new loss of the same slice";
  EXPECT_EQ(rate.turn_of(slice_number(4), after(10min)), after(10min));
}

TEST(TeardownRate, MayBeUnlimited) {
  TeardownRate rate({.teardown_interval = 0s});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rate.turn_of(slice_number(i), after(0s)), after(0s));
}

}  // namespace
}  // namespace tpuslice::slice
