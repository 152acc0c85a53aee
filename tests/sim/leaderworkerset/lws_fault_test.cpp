// Faults between operator and API server, two operators at once, and idle sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fault_choices.h"
#include "tests/support/lws_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

class LwsUnderFault : public ::testing::TestWithParam<NamedFaults> {};

TEST_P(LwsUnderFault, CompletesItsLifecycle) {
  LwsWorld world;
  OperatorOptions options = world.replacement;
  options.faults = GetParam().faults;
  world.start_operator(options);
  const auto reached = [&](const std::function<bool()>& condition) {
    return run_until_with(GetParam(), world, condition);
  };
  world.apply();
  ASSERT_TRUE(reached([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.require_ready(1);
  world.restart_container("serve-0-1");
  ASSERT_TRUE(reached([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.use_image("second");
  ASSERT_TRUE(reached([&] { return world.is_ready(2, "second"); })) << world.digest();
  world.scale(4);
  ASSERT_TRUE(reached([&] { return world.is_ready(4, "second"); })) << world.digest();
  world.scale(1);
  ASSERT_TRUE(reached([&] { return world.is_ready(1, "second"); })) << world.digest();
  world.require_ready(0);
  world.remove();
  EXPECT_TRUE(reached([&] { return world.is_deleted(); })) << world.digest();
  EXPECT_THAT(world.violations, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, LwsUnderFault, ::testing::ValuesIn(all_faults()),
                         [](const auto& test) { return std::string(test.param.name); });

/// A paused process continues after its lease expired: both operators write for a moment.
TEST(LwsLeadership, OverlapIsHarmless) {
  LwsWorld world;
  OperatorOptions late = world.replacement;
  late.identity = "late";
  late.faults.delay_watch = 2s;
  OperatorOptions prompt = world.replacement;
  prompt.identity = "prompt";
  world.start_operator(late);
  world.start_operator(prompt);
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.require_ready(1);
  world.restart_container("serve-1");
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.use_image("second");
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "second"); })) << world.digest();
  EXPECT_THAT(world.violations, IsEmpty());
}

TEST(IdleLws, CausesNoWrites) {
  LwsWorld world;
  OperatorHarness& harness = world.start_operator(world.replacement);
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2, "first"); })) << world.digest();
  world.run_for(5s);
  const std::int64_t writes = harness.faults().writes();
  world.run_for(1h);
  EXPECT_EQ(harness.faults().writes(), writes);
}

}  // namespace
}  // namespace tpuslice::testing
