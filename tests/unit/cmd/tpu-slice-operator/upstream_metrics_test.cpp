#include "cmd/tpu-slice-operator/upstream_metrics.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-operator/kinds.h"
#include "tests/support/fake_api.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

class UpstreamMetricsTest : public ::testing::Test {
 protected:
  std::unique_ptr<runtime::Manager> manager(bool leader_elect) {
    return std::make_unique<runtime::Manager>(
        runtime::Api(api_, api_), runtime::Api(api_, api_), clock_, metrics_, Logger(),
        runtime::ManagerOptions{.leader_elect = leader_elect, .election = {.identity = "a"}, .action_threads = 0});
  }

  FakeClock clock_;
  Metrics metrics_;
  testing::FakeApi api_;
  const std::vector<UpstreamMetrics> all_{{"rayjob", [](SeriesWriter& out) {
                                             out.family("kuberay_job_info", "RayJobs.");
                                             for (const char* name : {"a", "b"}) out.sample({{"name", name}}, 1);
                                           }}};
};

TEST_F(UpstreamMetricsTest, AreServedByTheLeaderAlone) {
  const auto leader = manager(false);
  std::string text = "up 1\n";
  append_upstream_metrics(*leader, all_, text);
  EXPECT_EQ(text,
            "up 1\n"
            "# HELP kuberay_job_info RayJobs.\n"
            "# TYPE kuberay_job_info gauge\n"
            "kuberay_job_info{name=\"a\"} 1\n"
            "kuberay_job_info{name=\"b\"} 1\n"
            "# HELP tpuslice_upstream_series_left_out Series under upstream's names that the last scrape left out, as "
            "they are too many.\n"
            "# TYPE tpuslice_upstream_series_left_out gauge\n"
            "tpuslice_upstream_series_left_out 0\n");
  const auto other = manager(true);
  text.clear();
  append_upstream_metrics(*other, all_, text);
  EXPECT_EQ(text, "");
}

TEST_F(UpstreamMetricsTest, SayHowManySeriesAreLeftOut) {
  std::string text;
  append_upstream_metrics(*manager(false), all_, text, {.series = 1});
  EXPECT_THAT(text, HasSubstr("kuberay_job_info{name=\"a\"} 1\n# HELP tpuslice_upstream_series_left_out"));
  EXPECT_THAT(text, HasSubstr("tpuslice_upstream_series_left_out 1\n"));
}

TEST_F(UpstreamMetricsTest, AreLeftToTheUpstreamControllerOfAKind) {
  const auto leader = manager(false);
  leader->defer_to({.name = "KubeRay", .lease = "ray-operator-leader", .kind = {}, .controllers = {"rayjob"}});
  std::string text;
  append_upstream_metrics(*leader, all_, text);
  EXPECT_EQ(text.find("kuberay"), std::string::npos) << text;
}

TEST(UpstreamMetricsOfKinds, AreOfKindsWhoseUpstreamHasAPrefix) {
  std::set<std::string_view> written;
  for (const kind::Kind* each : kinds()) {
    if (each->upstream_metrics == nullptr) continue;
    EXPECT_FALSE(each->upstream.metrics.empty()) << each->controller;
    written.insert(each->controller);
  }
  EXPECT_THAT(written, ::testing::ElementsAre("raycluster", "rayjob", "rayservice"));
}

}  // namespace
}  // namespace tpuslice
