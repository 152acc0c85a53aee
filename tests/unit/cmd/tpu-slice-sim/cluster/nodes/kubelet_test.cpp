#include "cmd/tpu-slice-sim/cluster/nodes/pod_status.h"
#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_pod;
using testing::a_service;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class KubeletTest : public testing::SimFixture {};

TEST_F(KubeletTest, RunsAPodThroughItsStages) {
  apply(a_pod("a").init_container("setup"));
  run_for(10ms);
  EXPECT_EQ(phase_of("a"), "Pending");
  EXPECT_EQ(condition("a", "Initialized"), "False");
  EXPECT_EQ(string_at(pod("a"), {"status", "containerStatuses", "0", "state", "waiting", "reason"}), "PodInitializing");
  ASSERT_TRUE(run_until([&] { return phase_of("a") == "Running"; }));
  EXPECT_EQ(condition("a", "Initialized"), "True");
  EXPECT_EQ(condition("a", "Ready"), "False");
  ASSERT_TRUE(run_until([&] { return ready("a"); }));
  EXPECT_EQ(condition("a", "ContainersReady"), "True");
  EXPECT_THAT(string_at(pod("a"), {"status", "podIP"}), StartsWith("10."));
  EXPECT_THAT(string_at(pod("a"), {"status", "hostIP"}), StartsWith("10.0."));
  EXPECT_NE(string_at(pod("a"), {"status", "startTime"}), "");
}

TEST_F(KubeletTest, WritesNothingForARunningPod) {
  apply(a_pod("a"));
  run_for(10s);
  const Revision before = cluster_.storage().revision();
  run_for(60min);
  EXPECT_EQ(cluster_.storage().revision(), before);
}

TEST_F(KubeletTest, DelaysRayWorkersUntilTheHeadIsReady) {
  apply(a_service("c-head-svc", {{"node-type", "head"}}));
  const Json env = Json::array({Json{{"name", "FQ_RAY_IP"}, {"value", "c-head-svc.default.svc.cluster.local"}}});
  apply(a_pod("worker").init_container("wait-gcs-ready", env));
  run_for(1min);
  EXPECT_EQ(condition("worker", "Initialized"), "False");
  apply(a_pod("head").label("node-type", "head"));
  ASSERT_TRUE(run_until([&] { return ready("head"); }));
  EXPECT_FALSE(ready("worker"));
  EXPECT_TRUE(run_until([&] { return ready("worker"); }, 10s));
}

TEST_F(KubeletTest, FailsPodsThatAreNotRestarted) {
  apply(a_pod("a").restart_policy("Never").script("fail-after", "5s").script("exit-code", "3"));
  run_for(1min);
  EXPECT_EQ(phase_of("a"), "Failed");
  EXPECT_EQ(seen(pod("a"), "main").exit_code, 3);
  EXPECT_EQ(condition("a", "Ready", "reason"), "PodFailed");
}

TEST_F(KubeletTest, CompletesPodsOnRequest) {
  apply(a_pod("a").restart_policy("OnFailure").script("complete-after", "5s"));
  run_for(1min);
  EXPECT_EQ(phase_of("a"), "Succeeded");
  EXPECT_EQ(condition("a", "Ready", "reason"), "PodCompleted");
}

TEST_F(KubeletTest, RestartsContainersWithBackOff) {
  apply(a_pod("a").script("crash-loop", "true"));
  run_for(5s);
  EXPECT_EQ(seen(pod("a"), "main").restarts, 1);
  EXPECT_EQ(seen(pod("a"), "main").reason, "CrashLoopBackOff");
  EXPECT_EQ(phase_of("a"), "Running");
  run_for(10s);
  EXPECT_EQ(seen(pod("a"), "main").restarts, 2);
  run_for(10s);
  EXPECT_EQ(seen(pod("a"), "main").restarts, 2);
  run_for(12s);
  EXPECT_EQ(seen(pod("a"), "main").restarts, 3);
}

TEST_F(KubeletTest, NeverReportsReadyWhenTheProbeFails) {
  apply(a_pod("a").script("never-ready", "true"));
  run_for(5min);
  EXPECT_EQ(phase_of("a"), "Running");
  EXPECT_FALSE(ready("a"));
}

TEST_F(KubeletTest, RemovesADeletedPodAfterADelay) {
  apply(a_pod("a"));
  ASSERT_TRUE(run_until([&] { return ready("a"); }));
  ASSERT_TRUE(cluster_.remove("pods", {"default", "a"}).ok());
  run_for(100ms);
  EXPECT_TRUE(pod("a")["metadata"].contains("deletionTimestamp"));
  run_for(1s);
  EXPECT_TRUE(pod("a").is_null());
}

TEST_F(KubeletTest, RestartsAKilledContainer) {
  apply(a_pod("a"));
  ASSERT_TRUE(run_until([&] { return ready("a"); }));
  ASSERT_TRUE(cluster_.kill_container({"default", "a"}, "main").ok());
  EXPECT_FALSE(ready("a"));
  ASSERT_TRUE(run_until([&] { return ready("a"); }));
  EXPECT_EQ(seen(pod("a"), "main").restarts, 1);
}

TEST_F(KubeletTest, LeavesAFailedPodFailed) {
  apply(a_pod("a"));
  ASSERT_TRUE(run_until([&] { return ready("a"); }));
  ASSERT_TRUE(cluster_.fail_pod({"default", "a"}, 137, "Evicted").ok());
  run_for(1min);
  EXPECT_EQ(phase_of("a"), "Failed");
  EXPECT_EQ(string_at(pod("a"), {"status", "reason"}), "Evicted");
}

TEST(SimHistory, IsTheSameForTheSameSeed) {
  const auto history = [](std::uint64_t seed) {
    FakeClock clock;
    Cluster cluster(clock, {.seed = seed, .jitter = true});
    for (int i = 0; i < 6; ++i) {
      EXPECT_TRUE(cluster.apply(a_pod("p" + std::to_string(i)).tpu(4)).ok());
    }
    cluster.run_for(clock, 1min);
    std::string out;
    const std::vector<Change> changes = cluster.storage().changes({}, 0, 100'000).value();
    for (const Change& change : changes) {
      out += change.resource + change.key.to_string() + change.object->dump();
    }
    return out;
  };
  EXPECT_EQ(history(3), history(3));
  EXPECT_NE(history(3), history(4));
}

}  // namespace
}  // namespace tpuslice::sim
