// The operator of a RayService is killed after, or just before, its n-th write, for every n; the next one completes the
// work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/ray_service_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct ServiceScenario {
  const char* name;
  std::function<void(RayServiceWorld&)> act;  ///< Called after the world has settled without a fault.
  std::function<bool(RayServiceWorld&)> done;
  bool from_nothing = false;  ///< The faulty operator also sees the creation.
  bool serves = false;        ///< All the time.
};

const ServiceScenario kDeploy{"Deploy", [](RayServiceWorld& world) { world.apply_service("cpu"); },
                              [](RayServiceWorld& world) { return world.is_running(); }, true};
const ServiceScenario kUpgrade{"Upgrade", [](RayServiceWorld& world) { world.upgrade(); },
                               [](RayServiceWorld& world) { return world.is_running("2.49.1"); }, false, true};
const ServiceScenario kServiceDelete{
    "Delete",
    [](RayServiceWorld& world) {
      TPUSLICE_CHECK(world.cluster.remove(RayServiceWorld::kRayServices, RayServiceWorld::kService).ok());
    },
    [](RayServiceWorld& world) { return world.service().is_null(); }};

struct ServiceOutcome {
  std::string digest;
  std::vector<std::string> violations;
  std::int64_t writes = 0;
  int puts = 0;
  bool done = false;
};

/// `die_at` 0: no fault.
ServiceOutcome play_service(const ServiceScenario& scenario, std::int64_t die_at, bool before_server) {
  RayServiceWorld world;
  if (!scenario.from_nothing) {
    world.start_operator(world.operator_options());
    world.apply_service("cpu");
    TPUSLICE_CHECK(world.run_until([&] { return world.is_running(); }));
    world.run_for(1min);
    world.kill_operators();
    static_cast<void>(world.dashboards.take_requests());
  }
  OperatorOptions options = world.operator_options();
  options.faults.die_at_write = die_at;
  options.faults.die_before_server = before_server;
  world.must_serve = scenario.serves;
  world.start_operator(options);
  scenario.act(world);
  ServiceOutcome outcome;
  outcome.done = world.run_until([&] { return scenario.done(world); }, 5min);
  outcome.writes = world.operators.front()->faults().writes();
  world.run_for(1min);
  if (die_at == 0) outcome.writes = world.operators.front()->faults().writes();
  outcome.digest = world.digest();
  outcome.violations = world.violations;
  for (const std::string& request : world.dashboards.take_requests())
    outcome.puts += request.starts_with("PUT") ? 1 : 0;
  return outcome;
}

class ServiceCrash : public ::testing::TestWithParam<std::tuple<ServiceScenario, bool>> {};

TEST_P(ServiceCrash, AtAnyWriteReachesTheSameState) {
  const auto& [scenario, before_server] = GetParam();
  const ServiceOutcome whole = play_service(scenario, 0, before_server);
  ASSERT_TRUE(whole.done);
  EXPECT_THAT(whole.violations, IsEmpty());
  for (std::int64_t n = 1; n <= whole.writes; ++n) {
    SCOPED_TRACE(fmt::format("killed at write {} of {}", n, whole.writes));
    const ServiceOutcome cut = play_service(scenario, n, before_server);
    ASSERT_TRUE(cut.done);
    EXPECT_EQ(cut.digest, whole.digest);
    EXPECT_THAT(cut.violations, IsEmpty());
    EXPECT_LE(cut.puts, whole.puts + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ServiceCrash,
                         ::testing::Combine(::testing::Values(kDeploy, kUpgrade, kServiceDelete), ::testing::Bool()),
                         [](const auto& test) {
                           return fmt::format("{}{}", std::get<0>(test.param).name,
                                              std::get<1>(test.param) ? "BeforeServer" : "AfterServer");
                         });

TEST(IdleRayServices, WriteNothingForAnHour) {
  RayServiceWorld world;
  OperatorHarness& harness = world.start_operator(world.operator_options());
  world.apply_service("v6e-4x4");
  ASSERT_TRUE(world.run_until([&] { return world.is_running(); }));
  world.run_for(1min);
  const std::int64_t writes = harness.faults().writes();
  world.run_for(1h);
  EXPECT_EQ(harness.faults().writes(), writes);
}

}  // namespace
}  // namespace tpuslice::testing
