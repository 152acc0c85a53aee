#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_pod;
using namespace std::chrono_literals;

class NodesTest : public testing::SimFixture {
 protected:
  void a_pod_runs_on_cpu_1() {
    apply(a_pod("a").select("kubernetes.io/hostname", "cpu-1"));
    ASSERT_TRUE(run_until([&] { return ready("a"); }));
  }
  std::string node_ready(const std::string& name) {
    return condition_status(*cluster_.get("nodes", {"", name}), "Ready");
  }
};

TEST_F(NodesTest, MarksThePodsOfALostNodeNotReady) {
  a_pod_runs_on_cpu_1();
  ASSERT_TRUE(cluster_.set_node_ready("cpu-1", false).ok());
  run_for(1s);
  EXPECT_EQ(node_ready("cpu-1"), "Unknown");
  EXPECT_EQ(condition("a", "Ready", "reason"), "NodeNotReady");
  EXPECT_EQ(phase_of("a"), "Running");
}

TEST_F(NodesTest, DeletesThemAfterTheirTolerationAndTheyStayTerminating) {
  a_pod_runs_on_cpu_1();
  ASSERT_TRUE(cluster_.set_node_ready("cpu-1", false).ok());
  run_for(299s);
  EXPECT_FALSE(pod("a")["metadata"].contains("deletionTimestamp"));
  run_for(2s);
  EXPECT_TRUE(pod("a")["metadata"].contains("deletionTimestamp"));
  run_for(60min);
  EXPECT_FALSE(pod("a").is_null());
}

TEST_F(NodesTest, RemovesTerminatingPodsWhenTheNodeReturns) {
  a_pod_runs_on_cpu_1();
  ASSERT_TRUE(cluster_.set_node_ready("cpu-1", false).ok());
  run_for(10min);
  ASSERT_TRUE(cluster_.set_node_ready("cpu-1", true).ok());
  run_for(5s);
  EXPECT_TRUE(pod("a").is_null());
  EXPECT_EQ(node_ready("cpu-1"), "True");
}

TEST_F(NodesTest, MakesPodsReadyAgainWhenTheNodeReturnsInTime) {
  a_pod_runs_on_cpu_1();
  ASSERT_TRUE(cluster_.set_node_ready("cpu-1", false).ok());
  run_for(1min);
  ASSERT_TRUE(cluster_.set_node_ready("cpu-1", true).ok());
  run_for(5s);
  EXPECT_TRUE(ready("a"));
}

TEST_F(NodesTest, CollectThePodsOfADeletedNode) {
  a_pod_runs_on_cpu_1();
  ASSERT_TRUE(cluster_.delete_node("cpu-1").ok());
  run_for(1s);
  EXPECT_TRUE(pod("a").is_null());
  ASSERT_TRUE(cluster_.restore_node("cpu-1").ok());
  apply(a_pod("b").select("kubernetes.io/hostname", "cpu-1"));
  EXPECT_TRUE(run_until([&] { return ready("b"); }, 10s));
}

TEST_F(NodesTest, TaintCordonedNodes) {
  ASSERT_TRUE(cluster_.cordon("cpu-0").ok());
  run_for(0s);
  EXPECT_EQ(cluster_.get("nodes", {"", "cpu-0"})->at("spec").at("taints")[0].at("key"),
            "node.kubernetes.io/unschedulable");
  ASSERT_TRUE(cluster_.cordon("cpu-0", false).ok());
  run_for(0s);
  EXPECT_TRUE(cluster_.get("nodes", {"", "cpu-0"})->at("spec").value("taints", Json::array()).empty());
}

TEST_F(NodesTest, SurviveCompaction) {
  a_pod_runs_on_cpu_1();
  apply(a_pod("b"));
  cluster_.compact();
  EXPECT_TRUE(run_until([&] { return ready("b"); }, 10s));
  EXPECT_TRUE(ready("a"));
}

}  // namespace
}  // namespace tpuslice::sim
