// Plays every scenario of tests/e2e/scenarios in the world this program is linked with.
#include <algorithm>
#include <cstdio>
#include <ostream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/io_threads.h"
#include "tests/e2e/runner/player.h"

namespace tpuslice::e2e {

/// How GoogleTest names one that fails.
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

namespace {

constexpr const char* kFolder = "tests/e2e/scenarios";

/// One world at a time, for all scenarios in a row that want the same machines.
class Theatre {
 public:
  Result<Player*> player_for(const Scenario& scenario) {
    if (player_ && pools_ == scenario.pools) return player_.get();
    close();
    ASSIGN_OR_RETURN(world_, start_world(scenario.pools));
    auto player = Player::start(*world_, [](const std::string& line) {
      fmt::print("{}\n", line);
      std::fflush(stdout);
    });
    if (!player) {
      world_->keep();
      return player.error().within(world_->dir());
    }
    player_ = std::move(*player);
    pools_ = scenario.pools;
    return player_.get();
  }
  void close() {
    player_.reset();
    world_.reset();
  }
  [[nodiscard]] World* world() { return world_.get(); }

 private:
  std::unique_ptr<World> world_;
  std::unique_ptr<Player> player_;
  Json pools_;
};

Theatre& theatre() {
  static Theatre instance;
  return instance;
}

class Scenarios : public ::testing::TestWithParam<Scenario> {
 protected:
  static void SetUpTestSuite() { io_ = http::start_io(); }
  static void TearDownTestSuite() {
    theatre().close();
    io_.reset();
  }

 private:
  static std::shared_ptr<http::IoThreads> io_;
};
std::shared_ptr<http::IoThreads> Scenarios::io_;

TEST_P(Scenarios, GoAsWritten) {
  fmt::print("{}\n", GetParam().description);
  const auto player = theatre().player_for(GetParam());
  if (!player && player.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << player.error().message();
  ASSERT_TRUE(player.ok()) << player.error().message();
  const Status played = (*player)->play(GetParam());
  EXPECT_TRUE(played.ok()) << played.error().message() << "\nlogs: " << theatre().world()->dir();
  // What a failed one has left must not harm the next.
  if (!played) theatre().close();
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

// Without it, a folder of scenarios that cannot be read would pass.
TEST(ScenarioFiles, CanAllBeRead) {
  const auto scenarios = load_scenarios(kFolder);
  EXPECT_TRUE(scenarios.ok()) << scenarios.error().message();
}

}  // namespace
}  // namespace tpuslice::e2e
