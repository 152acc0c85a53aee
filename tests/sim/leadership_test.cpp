// Two operators, with and without leader election.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

OperatorOptions candidate(const std::string& identity, std::uint64_t seed) {
  OperatorOptions options;
  options.identity = identity;
  options.leader_elect = true;
  options.seed = seed;
  return options;
}

TEST(Leadership, OnlyTheLeaderWrites) {
  RayWorld world;
  world.start_operator(candidate("a", 1));
  world.start_operator(candidate("b", 2));
  world.apply_tutorial();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); }));
  const std::int64_t first = world.operators[0]->faults().writes();
  const std::int64_t second = world.operators[1]->faults().writes();
  EXPECT_EQ(std::min(first, second), 0);
  EXPECT_GT(std::max(first, second), 0);
}

TEST(Leadership, PassesToTheOtherReplicaWhenTheLeaderDies) {
  RayWorld world;
  world.start_operator(candidate("a", 1));
  world.start_operator(candidate("b", 2));
  world.run_for(5s);
  const bool first_leads = world.operators[0]->manager().leading();
  ASSERT_NE(first_leads, world.operators[1]->manager().leading());
  world.operators.erase(world.operators.begin() + (first_leads ? 0 : 1));
  world.apply_tutorial();
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(); }, 2min));
  EXPECT_TRUE(world.operators.front()->manager().leading());
}

/// As a paused process that resumes after its lease expired: both write for a short time.
TEST(Leadership, OverlapIsHarmless) {
  RayWorld world;
  OperatorOptions late;
  late.identity = "late";
  late.faults.delay_watch = 2s;
  world.start_operator();
  world.start_operator(late);
  world.apply_tutorial();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.digest();
  world.run_for(1min);
  for (int host = 0; host < 4; ++host) {
    SCOPED_TRACE(host);
    const std::set<std::string> before = world.worker_uids();
    ASSERT_TRUE(world.cluster.fail_pod(world.worker(host), 1).ok());
    ASSERT_TRUE(world.run_until([&] { return world.is_ready() && world.worker_uids() != before; })) << world.digest();
    world.run_for(1min);
    EXPECT_TRUE(world.is_ready());
  }
  EXPECT_THAT(world.violations, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::testing
