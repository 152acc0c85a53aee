// The operator is killed after, or just before, its n-th write, for every n; the next one completes the work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// A change of the world and the expected state.
struct Scenario {
  const char* name;
  std::function<void(RayWorld&)> act;  ///< Called after the world has settled without a fault.
  std::function<bool(RayWorld&)> done;
  bool from_nothing = false;  ///< The faulty operator also sees the creation.
};

const Scenario kCreate{"Create", [](RayWorld& world) { world.apply_tutorial(); },
                       [](RayWorld& world) { return world.is_ready(); }, true};
const Scenario kRepair{
    "Repair", [](RayWorld& world) { TPUSLICE_CHECK(world.cluster.fail_pod(world.worker(1), 137, "Evicted").ok()); },
    [](RayWorld& world) { return world.is_ready(); }};
const Scenario kDelete{"Delete",
                       [](RayWorld& world) { TPUSLICE_CHECK(world.cluster.remove(kRayClusters, kTutorial).ok()); },
                       [](RayWorld& world) { return world.ray_cluster().is_null(); }};

const Scenario kDeleteFaultTolerant{"DeleteFaultTolerant",
                                    [](RayWorld& world) {
                                      world.make_tutorial_fault_tolerant();
                                      TPUSLICE_CHECK(world.run_until([&] {
                                        return !array_at(world.ray_cluster(), {"metadata", "finalizers"}).empty();
                                      }));
                                      TPUSLICE_CHECK(world.cluster.remove(kRayClusters, kTutorial).ok());
                                    },
                                    [](RayWorld& world) {
                                      return world.ray_cluster().is_null() &&
                                             world.cluster.storage().list("jobs.batch").empty();
                                    }};

struct Outcome {
  std::string digest;
  std::vector<std::string> violations;
  std::int64_t writes = 0;
  bool done = false;
};

/// `die_at` 0: no fault.
Outcome play(const Scenario& scenario, std::int64_t die_at, bool before_server) {
  RayWorld world;
  if (!scenario.from_nothing) {
    world.start_operator();
    world.apply_tutorial();
    TPUSLICE_CHECK(world.run_until([&] { return world.is_ready(); }));
    world.run_for(1min);
    world.kill_operators();
  }
  OperatorOptions options;
  options.faults.die_at_write = die_at;
  options.faults.die_before_server = before_server;
  world.start_operator(options);
  scenario.act(world);
  Outcome outcome;
  outcome.done = world.run_until([&] { return scenario.done(world); }, 5min);
  // Counted before the replacement; garbage collection needs a while.
  outcome.writes = world.operators.front()->faults().writes();
  world.run_for(1min);
  if (die_at == 0) outcome.writes = world.operators.front()->faults().writes();
  outcome.digest = world.digest();
  outcome.violations = world.violations;
  return outcome;
}

class Crash : public ::testing::TestWithParam<std::tuple<Scenario, bool>> {};

TEST_P(Crash, AtAnyWriteReachesTheSameState) {
  const auto& [scenario, before_server] = GetParam();
  const Outcome whole = play(scenario, 0, before_server);
  ASSERT_TRUE(whole.done);
  ASSERT_THAT(whole.violations, IsEmpty());
  for (std::int64_t n = 1; n <= whole.writes; ++n) {
    SCOPED_TRACE(fmt::format("dies {} write {} of {}", before_server ? "before" : "after", n, whole.writes));
    const Outcome crashed = play(scenario, n, before_server);
    EXPECT_TRUE(crashed.done);
    EXPECT_EQ(crashed.digest, whole.digest);
    EXPECT_THAT(crashed.violations, IsEmpty());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Crash,
                         ::testing::Combine(::testing::Values(kCreate, kRepair, kDelete, kDeleteFaultTolerant),
                                            ::testing::Bool()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) +
                                  (std::get<1>(test.param) ? "BeforeTheServer" : "AfterTheServer");
                         });

TEST(Crash, TestsEnoughWrites) {
  EXPECT_GE(play(kCreate, 0, false).writes, 8) << "head, services, four workers and the status";
  EXPECT_GE(play(kRepair, 0, false).writes, 8) << "four deletes and four creates";
  EXPECT_GE(play(kDeleteFaultTolerant, 0, false).writes, 8) << "two patches of finalizers, five deletes and a Job";
}

}  // namespace
}  // namespace tpuslice::testing
