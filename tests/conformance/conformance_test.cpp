// The simulated API server gives the responses that were recorded from a real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/player.h"

namespace tpuslice::conformance {
namespace {

const std::vector<Exchange>& all_exchanges() {
  static const std::vector<Exchange> kExchanges = [] {
    auto loaded = load_exchanges("tests/conformance/exchanges");
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message());
    return loaded.ok() ? *std::move(loaded) : std::vector<Exchange>();
  }();
  return kExchanges;
}

std::vector<std::string> areas() {
  std::vector<std::string> found;
  for (const Exchange& each : all_exchanges()) {
    if (found.empty() || found.back() != each.area) found.push_back(each.area);
  }
  return found;
}

class Conformance : public ::testing::TestWithParam<std::string> {};

TEST_P(Conformance, SimulatorAnswersLikeTheRealServer) {
  const std::unique_ptr<World> world = simulated_world();
  const Status ready = set_up(*world);
  ASSERT_TRUE(ready.ok()) << ready.error().message();
  const Json recordings = load_recordings("tests/conformance/recordings", GetParam());
  for (const Exchange& exchange : all_exchanges()) {
    if (exchange.area != GetParam()) continue;
    ASSERT_TRUE(recordings.contains(exchange.name)) << exchange.id() << ": not recorded; see docs/testing.md";
    const Result<Json> replies = play(*world, exchange);
    ASSERT_TRUE(replies.ok()) << replies.error().message();
    const Verdict verdict = compare(exchange, recordings.at(exchange.name), *replies);
    EXPECT_THAT(verdict.differences, ::testing::IsEmpty()) << exchange.id();
  }
}

INSTANTIATE_TEST_SUITE_P(Areas, Conformance, ::testing::ValuesIn(areas()), [](const auto& area) { return area.param; });

}  // namespace
}  // namespace tpuslice::conformance
