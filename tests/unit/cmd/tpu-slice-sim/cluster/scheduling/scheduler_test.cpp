#include <set>

#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_pod;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kPool = "cloud.google.com/gke-nodepool";

class SchedulerTest : public testing::SimFixture {
 protected:
  std::string why_pending(const std::string& name) { return condition(name, "PodScheduled", "message"); }
  std::string pool_of(const std::string& name) {
    const JsonPtr node = cluster_.get("nodes", {"", node_of(name)});
    return node == nullptr ? "" : string_at(*node, {"metadata", "labels", kPool});
  }
  static Json selector(const std::string& key, const std::string& value) { return {{"matchLabels", {{key, value}}}}; }
};

TEST_F(SchedulerTest, BindsAPodAndRecordsAnEvent) {
  apply(a_pod("a"));
  run_for(0s);
  EXPECT_THAT(node_of("a"), StartsWith("cpu-"));
  EXPECT_EQ(condition("a", "PodScheduled"), "True");
}

TEST_F(SchedulerTest, SetsTheZoneLabelOfABoundPod) {
  apply(a_pod("a").label("topology.kubernetes.io/zone", "elsewhere"));
  run_for(0s);
  const Json bound = pod("a");
  EXPECT_EQ(string_at(bound, {"metadata", "labels", "topology.kubernetes.io/zone"}), "us-east5-b");
  EXPECT_EQ(string_at(bound, {"metadata", "labels", "topology.kubernetes.io/region"}), "us-east5");
}

TEST_F(SchedulerTest, KeepsPodsWithoutTpuOffTaintedNodes) {
  apply(a_pod("a").on_pool("v6e-4x4-a"));
  run_for(0s);
  EXPECT_EQ(node_of("a"), "");
  EXPECT_EQ(condition("a", "PodScheduled", "reason"), "Unschedulable");
  EXPECT_EQ(why_pending("a"),
            "0/19 nodes are available: 16 node(s) had untolerated taint {google.com/tpu: present}, 3 node(s) didn't "
            "match Pod's node affinity/selector.");
}

TEST_F(SchedulerTest, AddsATolerationToPodsThatRequestTpus) {
  apply(a_pod("a").tpu(4).on_pool("v6e-4x4-a"));
  run_for(0s);
  EXPECT_EQ(pool_of("a"), "v6e-4x4-a");
}

TEST_F(SchedulerTest, CountsTheRequestsOfBoundPods) {
  for (int i = 0; i < 5; ++i) apply(a_pod("p" + std::to_string(i)).tpu(4).on_pool("v6e-4x4-a"));
  run_for(0s);
  std::set<std::string> nodes;
  for (int i = 0; i < 4; ++i) nodes.insert(node_of("p" + std::to_string(i)));
  EXPECT_EQ(nodes.size(), 4U);
  EXPECT_EQ(node_of("p4"), "");
  EXPECT_THAT(why_pending("p4"), HasSubstr("4 Insufficient google.com/tpu"));
}

TEST_F(SchedulerTest, RetriesWhenResourcesBecomeFree) {
  for (int i = 0; i < 5; ++i) apply(a_pod("p" + std::to_string(i)).tpu(4).on_pool("v6e-4x4-a"));
  run_for(5s);
  ASSERT_TRUE(cluster_.remove("pods", {"default", "p0"}).ok());
  run_for(5s);
  EXPECT_NE(node_of("p4"), "");
}

TEST_F(SchedulerTest, WritesNothingWhileNothingChanges) {
  apply(a_pod("a").on_pool("nowhere"));
  run_for(1s);
  const Revision before = cluster_.storage().revision();
  run_for(10min);
  EXPECT_EQ(cluster_.storage().revision(), before);
}

TEST_F(SchedulerTest, IgnoresGatedPodsUntilTheGateIsRemoved) {
  const Json pod = apply(a_pod("a").gate("tpuslice.dev/slice"));
  run_for(1s);
  EXPECT_EQ(node_of("a"), "");
  EXPECT_EQ(condition("a", "PodScheduled", "reason"), "SchedulingGated");
  const auto opened = cluster_.registry().modify(*cluster_.registry().resources().find_id("pods"), {"default", "a"}, {},
                                                 [](Json& json) -> Status {
                                                   json["spec"].erase("schedulingGates");
                                                   return {};
                                                 });
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  run_for(1s);
  EXPECT_NE(node_of("a"), "");
}

TEST_F(SchedulerTest, SkipsCordonedNodes) {
  for (const char* node : {"cpu-0", "cpu-1", "cpu-2"}) ASSERT_TRUE(cluster_.cordon(node).ok());
  apply(a_pod("a"));
  run_for(0s);
  EXPECT_THAT(why_pending("a"), HasSubstr("3 node(s) were unschedulable"));
  ASSERT_TRUE(cluster_.cordon("cpu-1", false).ok());
  run_for(0s);
  EXPECT_EQ(node_of("a"), "cpu-1");
}

TEST_F(SchedulerTest, HonoursRequiredNodeAffinity) {
  apply(a_pod("a").set("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
                       Json::array({Json{{"matchExpressions", Json::array({Json{{"key", "kubernetes.io/hostname"},
                                                                                {"operator", "NotIn"},
                                                                                {"values", {"cpu-0", "cpu-1"}}}})}}})));
  run_for(0s);
  EXPECT_EQ(node_of("a"), "cpu-2");
}

TEST_F(SchedulerTest, PlacesHighPriorityFirst) {
  apply(a_pod("low").tpu(4).select("kubernetes.io/hostname", "v6e-4x4-a-0").priority(1));
  apply(a_pod("high").tpu(4).select("kubernetes.io/hostname", "v6e-4x4-a-0").priority(10));
  run_for(0s);
  EXPECT_EQ(node_of("high"), "v6e-4x4-a-0");
  EXPECT_EQ(node_of("low"), "");
}

TEST_F(SchedulerTest, KeepsAnAffinityGroupInOneDomain) {
  for (int i = 0; i < 4; ++i) {
    apply(a_pod("p" + std::to_string(i))
              .label("slice", "s")
              .tpu(4)
              .affinity("podAffinity", selector("slice", "s"), kPool)
              .select("cloud.google.com/gke-tpu-topology", "4x4"));
  }
  run_for(0s);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pool_of("p" + std::to_string(i)), pool_of("p0"));
  EXPECT_THAT(pool_of("p0"), StartsWith("v6e-4x4"));
}

TEST_F(SchedulerTest, RefusesAPodWhoseAffinityNoPodSatisfies) {
  apply(a_pod("a").label("slice", "t").affinity("podAffinity", selector("slice", "s"), kPool));
  run_for(0s);
  EXPECT_THAT(why_pending("a"), HasSubstr("3 node(s) didn't match pod affinity rules"));
}

TEST_F(SchedulerTest, RespectsTheAntiAffinityOfBoundPods) {
  apply(
      a_pod("first")
          .label("slice", "s")
          .tpu(4)
          .on_pool("v6e-4x4-a")
          .affinity("podAntiAffinity",
                    {{"matchExpressions", Json::array({Json{{"key", "slice"}, {"operator", "NotIn"}, {"values", {"s"}}},
                                                       Json{{"key", "slice"}, {"operator", "Exists"}}})}},
                    kPool));
  run_for(0s);
  ASSERT_NE(node_of("first"), "");
  apply(a_pod("second").label("slice", "t").tpu(4).on_pool("v6e-4x4-a"));
  run_for(0s);
  EXPECT_THAT(why_pending("second"), HasSubstr("3 node(s) didn't satisfy existing pods anti-affinity rules"));
}

TEST_F(SchedulerTest, RespectsThePodsOwnAntiAffinityAcrossNamespaces) {
  apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "other"}}}});
  apply(a_pod("first").in("other").label("slice", "s").tpu(4).on_pool("v6e-4x4-a"));
  run_for(0s);
  const Json term = {{"labelSelector", selector("slice", "s")}, {"topologyKey", kPool}};
  Json everywhere = term;
  everywhere["namespaceSelector"] = Json::object();
  constexpr const char* kRule = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
  apply(a_pod("local").tpu(4).on_pool("v6e-4x4-a").append(kRule, term));
  apply(a_pod("global").tpu(4).on_pool("v6e-4x4-a").append(kRule, everywhere));
  run_for(0s);
  EXPECT_EQ(pool_of("local"), "v6e-4x4-a");
  EXPECT_THAT(why_pending("global"), HasSubstr("didn't match pod anti-affinity rules"));
}

TEST_F(SchedulerTest, RespectsPreferredNodeAffinity) {
  apply(a_pod("a").append(
      "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution",
      {{"weight", 10},
       {"preference",
        {{"matchExpressions",
          Json::array({Json{{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {"cpu-2"}}}})}}}}));
  run_for(0s);
  EXPECT_EQ(node_of("a"), "cpu-2");
}

}  // namespace
}  // namespace tpuslice::sim
