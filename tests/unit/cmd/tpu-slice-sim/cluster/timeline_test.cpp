#include "cmd/tpu-slice-sim/cluster/timeline.h"

#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_pod;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

class TimelineTest : public testing::SimFixture {};

TEST_F(TimelineTest, ReportsTheLifeOfAPod) {
  cluster_.settle();
  Timeline timeline(cluster_.registry(), clock_.now());
  std::vector<std::string> lines;
  const auto listen = [&](Instant now) -> std::optional<Instant> {
    for (std::string& line : timeline.take(now)) lines.push_back(std::move(line));
    return std::nullopt;
  };
  apply(a_pod("a"));
  cluster_.run_for(clock_, 10s, listen);
  ASSERT_TRUE(cluster_.remove("pods", {"default", "a"}).ok());
  cluster_.run_for(clock_, 10s, listen);
  EXPECT_THAT(lines,
              ElementsAre("   +0.0s  pod a created", "   +0.0s  pod a scheduled to cpu-0", "   +0.3s  pod a running",
                          "   +0.7s  pod a ready", "  +10.0s  pod a is being deleted", "  +10.3s  pod a gone"));
}

TEST(Elapsed, PrintsMinutesAndSeconds) {
  EXPECT_EQ(format_elapsed(450ms), "+0.4s");
  EXPECT_EQ(format_elapsed(123s), "+2m03s");
}

}  // namespace
}  // namespace tpuslice::sim
