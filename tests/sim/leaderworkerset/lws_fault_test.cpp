// Everything that can go wrong between the operator and the API server, two operators at a time, and sets at rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fault_choices.h"
#include "tests/support/lws_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

class LwsUnderFault : public ::testing::TestWithParam<NamedFaults> {};

TEST_P(LwsUnderFault, LivesItsWholeLife) {
  LwsWorld world;
  OperatorOptions options = world.fresh;
  options.faults = GetParam().faults;
  world.start_operator(options);
  const auto reached = [&](const std::function<bool()>& condition) {
    return reached_under(GetParam(), world, condition);
  };
  world.apply();
  ASSERT_TRUE(reached([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.promise(1);
  world.restart_container("serve-0-1");
  ASSERT_TRUE(reached([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.use_image("second");
  ASSERT_TRUE(reached([&] { return world.is_ready(2, "second"); })) << world.digest();
  world.scale(4);
  ASSERT_TRUE(reached([&] { return world.is_ready(4, "second"); })) << world.digest();
  world.scale(1);
  ASSERT_TRUE(reached([&] { return world.is_ready(1, "second"); })) << world.digest();
  world.promise(0);
  world.remove();
  EXPECT_TRUE(reached([&] { return world.is_gone(); })) << world.digest();
  EXPECT_THAT(world.violations, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, LwsUnderFault, ::testing::ValuesIn(every_fault()),
                         [](const auto& test) { return std::string(test.param.name); });

/// What a paused process does that wakes up after its lease ran out: for a moment both act.
TEST(LwsLeadership, OverlapIsHarmless) {
  LwsWorld world;
  OperatorOptions late = world.fresh;
  late.identity = "late";
  late.faults.delay_watch = 2s;
  OperatorOptions prompt = world.fresh;
  prompt.identity = "prompt";
  world.start_operator(late);
  world.start_operator(prompt);
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.promise(1);
  world.restart_container("serve-1");
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.use_image("second");
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "second"); })) << world.digest();
  EXPECT_THAT(world.violations, IsEmpty());
}

TEST(LwsAtRest, NothingIsWritten) {
  LwsWorld world;
  OperatorHarness& harness = world.start_operator(world.fresh);
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.run_for(5s);
  const std::int64_t writes = harness.faults().writes();
  world.run_for(1h);
  EXPECT_EQ(harness.faults().writes(), writes);
}

}  // namespace
}  // namespace tpuslice::testing
