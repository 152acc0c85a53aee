// Runs every scenario of tests/e2e/scenarios in the world that this program is linked with.
#include <algorithm>
#include <cstdio>
#include <ostream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/runner/scenario_runner.h"

namespace tpuslice::e2e {

/// GoogleTest prints the name of a failed scenario.
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

namespace {

constexpr const char* kFolder = "tests/e2e/scenarios";

/// One world at a time. Consecutive scenarios with the same node pools and flags share an operator, too.
class WorldCache {
 public:
  Result<ScenarioRunner*> runner_for(const Scenario& scenario) {
    const bool same_pools = world_ && pools_ == scenario.pools;
    if (runner_ && same_pools && flags_ == scenario.operator_flags) return runner_.get();
    runner_.reset();
    if (!same_pools && (!world_ || !world_->replace_pools(scenario.pools))) {
      RETURN_IF_ERROR(close());
      ASSIGN_OR_RETURN(world_, start_world(scenario.pools));
    }
    pools_ = scenario.pools;
    auto runner = ScenarioRunner::start(*world_, scenario.operator_flags, [](const std::string& line) {
      fmt::print("{}\n", line);
      std::fflush(stdout);
    });
    if (!runner) {
      world_->keep();
      return runner.error().within(world_->dir());
    }
    runner_ = std::move(*runner);
    flags_ = scenario.operator_flags;
    return runner_.get();
  }
  /// Checks that the namespace of the last scenario is deleted.
  Status close() {
    const Status deleted = world_ ? ScenarioRunner::wait_for_terminating_namespace(*world_) : Status();
    discard();
    return deleted;
  }
  void discard() {
    runner_.reset();
    world_.reset();
  }
  [[nodiscard]] World* world() { return world_.get(); }

 private:
  std::unique_ptr<World> world_;
  std::unique_ptr<ScenarioRunner> runner_;
  Json pools_;                      ///< Of world_.
  std::vector<std::string> flags_;  ///< Of runner_.
};

WorldCache& world_cache() {
  static WorldCache instance;
  return instance;
}

class Scenarios : public ::testing::TestWithParam<Scenario> {
 protected:
  static void TearDownTestSuite() {
    const Status closed = world_cache().close();
    EXPECT_TRUE(closed.ok()) << closed.error().message();
  }
};

TEST_P(Scenarios, MeetTheirExpectations) {
  fmt::print("{}\n", GetParam().description);
  const auto runner = world_cache().runner_for(GetParam());
  if (!runner && runner.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << runner.error().message();
  ASSERT_TRUE(runner.ok()) << runner.error().message();
  const Status status = (*runner)->run(GetParam());
  EXPECT_TRUE(status.ok()) << status.error().message() << "\nlogs: " << world_cache().world()->dir();
  // A failed scenario may leave objects behind.
  if (!status) world_cache().discard();
}

std::vector<Scenario> all_scenarios() {
  auto scenarios = load_scenarios(kFolder);
  if (scenarios) return std::move(*scenarios);
  fmt::print(stderr, "{}\n", scenarios.error().message());
  return {};
}

INSTANTIATE_TEST_SUITE_P(All, Scenarios, ::testing::ValuesIn(all_scenarios()), [](const auto& each) {
  std::string name = each.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// If the scenarios cannot be read, the suite above has no tests.
TEST(ScenarioFiles, AreValid) {
  const auto scenarios = load_scenarios(kFolder);
  EXPECT_TRUE(scenarios.ok()) << scenarios.error().message();
}

}  // namespace
}  // namespace tpuslice::e2e
