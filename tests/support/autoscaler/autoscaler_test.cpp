#include "tests/support/autoscaler/autoscaler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sim_fixture.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kNodePool = "cloud.google.com/gke-nodepool";
constexpr const char* kSliceLabel = "example.com/slice";

std::vector<NodeGroup> two_groups() {
  return parse_node_groups({{{"name", "a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}},
                            {{"name", "b"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}}})
      .value();
}

PodBuilder a_tpu_pod(const std::string& name) {
  PodBuilder pod = a_pod(name);
  pod.tpu(4)
      .select("cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice")
      .select("cloud.google.com/gke-tpu-topology", "4x4");
  return pod;
}

/// With the affinities that admission adds.
Json host_of(const std::string& slice, int host) {
  PodBuilder pod = a_tpu_pod(slice + "-" + std::to_string(host));
  const auto expression = [&](const char* op) {
    return Json{{"key", kSliceLabel}, {"operator", op}, {"values", Json::array({slice})}};
  };
  const Json exists = {{"key", kSliceLabel}, {"operator", "Exists"}};
  pod.label(kSliceLabel, slice)
      .affinity("podAffinity", {{"matchExpressions", Json::array({expression("In")})}}, kNodePool)
      .affinity("podAntiAffinity", {{"matchExpressions", Json::array({exists, expression("NotIn")})}}, kNodePool);
  return pod;
}

class AutoscalerTest : public SimFixture {
 protected:
  AutoscalerTest() : SimFixture({.pools = {sim::NodePool{.name = "cpu"}}}) {}

  void start(AutoscalerOptions options = {}) {
    if (options.groups.empty()) options.groups = two_groups();
    autoscaler_ = std::make_unique<Autoscaler>(client_, client_, clock_, std::move(options));
  }
  void run(Duration duration) {
    cluster_.run_for(clock_, duration, [&](Instant now) { return std::optional(autoscaler_->step(now)); });
    EXPECT_TRUE(autoscaler_->last_error().ok()) << autoscaler_->last_error().error().message();
  }
  void add_slice(const std::string& slice) {
    for (int host = 0; host < 4; ++host) apply(host_of(slice, host));
  }
  [[nodiscard]] std::vector<std::string> tpu_nodes() {
    std::vector<std::string> nodes = names("nodes");
    std::erase_if(nodes, [](const std::string& name) { return name.starts_with("cpu"); });
    return nodes;
  }
  [[nodiscard]] Json node(const std::string& name) const {
    const sim::JsonPtr found = cluster_.get("nodes", {"", name});
    return found == nullptr ? Json() : *found;
  }
  /// "<pod> <reason>: <message>"
  [[nodiscard]] std::vector<std::string> events() {
    std::vector<std::string> out;
    for (const sim::JsonPtr& event : cluster_.storage().list("events")) {
      if (string_at(*event, {"source", "component"}) != "cluster-autoscaler") continue;
      out.push_back(string_at(*event, {"involvedObject", "name"}) + " " + string_at(*event, {"reason"}) + ": " +
                    string_at(*event, {"message"}));
    }
    return out;
  }

  const std::unique_ptr<http::Transport> transport_ = cluster_.transport();
  client::Client client_{*transport_};
  std::unique_ptr<Autoscaler> autoscaler_;
};

TEST_F(AutoscalerTest, OneUnschedulablePodBringsAWholePool) {
  start({.provision_time = 30s});
  apply(a_tpu_pod("one"));
  run(29s);
  EXPECT_THAT(tpu_nodes(), IsEmpty());
  run(10s);
  EXPECT_THAT(tpu_nodes(), ElementsAre("a-0", "a-1", "a-2", "a-3"));
  EXPECT_THAT(node_of("one"), StartsWith("a-"));
  EXPECT_EQ(autoscaler_->counts().scale_ups, 1);
  EXPECT_THAT(events(), ElementsAre("one TriggeredScaleUp: pod triggered scale-up: [{a 0->4 (max: 4)}]"));
}

TEST_F(AutoscalerTest, NewNodesAreNotReadyAndThenWithoutChipsAtFirst) {
  start({.provision_time = 5s, .start_time = 2s});
  apply(a_tpu_pod("one"));
  run(5500ms);
  EXPECT_NE(sim::condition_status(node("a-0"), "Ready"), "True");
  EXPECT_EQ(string_at(node("a-0"), {"status", "allocatable", "google.com/tpu"}), "0");
  run(1s);
  EXPECT_EQ(sim::condition_status(node("a-0"), "Ready"), "True");
  EXPECT_EQ(string_at(node("a-0"), {"status", "allocatable", "google.com/tpu"}), "0");
  EXPECT_EQ(node_of("one"), "");
  run(1s);
  EXPECT_EQ(string_at(node("a-0"), {"status", "allocatable", "google.com/tpu"}), "4");
  EXPECT_NE(node_of("one"), "");
}

TEST_F(AutoscalerTest, PodsThatFitOnUpcomingNodesBringNoOtherPool) {
  start({.provision_time = 10s});
  for (const char* name : {"p0", "p1", "p2"}) apply(a_tpu_pod(name));
  run(5s);
  apply(a_tpu_pod("p3"));  // Four hosts in all.
  run(3s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 1);
  apply(a_tpu_pod("p4"));
  run(20s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 2);
  EXPECT_THAT(tpu_nodes(), SizeIs(8));
}

TEST_F(AutoscalerTest, EachSliceBringsAPoolOfItsOwn) {
  start();
  add_slice("x");
  add_slice("y");
  run(20s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 2);
  for (const char* slice : {"x", "y"}) {
    std::set<std::string> pools;
    for (int host = 0; host < 4; ++host) {
      pools.insert(node_of(std::string(slice) + "-" + std::to_string(host)).substr(0, 2));
    }
    EXPECT_THAT(pools, ElementsAre(AnyOf(std::string("a-"), std::string("b-")))) << slice;
  }
}

TEST_F(AutoscalerTest, AntiAffinityOfRunningPodsCounts) {
  start();
  apply(host_of("x", 0));
  run(5s);
  ASSERT_THAT(tpu_nodes(), SizeIs(4));
  // Three nodes of pool a are free, but the running pod keeps other slices out.
  apply(host_of("y", 0));
  run(5s);
  EXPECT_EQ(node_of("y-0").substr(0, 2), "b-");
}

TEST_F(AutoscalerTest, APodThatMustJoinAFullPoolBringsNoOther) {
  start();
  for (int host = 0; host < 5; ++host) apply(host_of("x", host));
  run(10s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 1);
  EXPECT_THAT(events(), Contains(AllOf(StartsWith("x-4 NotTriggerScaleUp"), HasSubstr("pod affinity rules"))));
}

TEST_F(AutoscalerTest, SomePodsBringNoNodes) {
  start({.provisioning_requests = false});
  apply(a_tpu_pod("gated").gate("tpuslice.dev/slice"));
  apply(a_tpu_pod("expendable").priority(-11));
  Json consumer = a_tpu_pod("consumer");
  consumer["metadata"]["annotations"][std::string(kConsumeRequest)] = "request";
  apply(consumer);
  apply(a_tpu_pod("pinned").on_pool("other"));
  apply(a_tpu_pod("host").select("kubernetes.io/hostname", "a-0"));
  apply(a_tpu_pod("large").tpu(8));
  apply(a_tpu_pod("v5e").select("cloud.google.com/gke-tpu-accelerator", "tpu-v5-lite-podslice"));
  run(10s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 0);
  EXPECT_THAT(tpu_nodes(), IsEmpty());
  EXPECT_THAT(events(), SizeIs(4));
  EXPECT_THAT(events(),
              Contains("large NotTriggerScaleUp: pod didn't trigger scale-up: 2 Insufficient google.com/tpu"));
  apply(a_tpu_pod("least").priority(-10));
  run(10s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 1);
}

TEST_F(AutoscalerTest, APodPinnedToAGroupBringsThatGroup) {
  start();
  apply(a_tpu_pod("one").on_pool("b"));
  run(5s);
  EXPECT_THAT(node_of("one"), StartsWith("b-"));
}

TEST_F(AutoscalerTest, AGroupAtItsMaximumIsNotScaledUp) {
  AutoscalerOptions options{.groups = two_groups()};
  options.groups[0].max = 0;
  start(options);
  for (int i = 0; i < 5; ++i) apply(a_tpu_pod("p" + std::to_string(i)));
  run(10s);
  EXPECT_THAT(tpu_nodes(), ElementsAre("b-0", "b-1", "b-2", "b-3"));
  EXPECT_THAT(events(), Contains("p4 NotTriggerScaleUp: pod didn't trigger scale-up: 2 max node group size reached"));
}

TEST_F(AutoscalerTest, AGroupWithoutCapacityIsNotTriedAgainForAWhile) {
  AutoscalerOptions options{.groups = two_groups(), .provision_time = 10s, .backoff = 60s};
  options.groups[0].capacity = false;
  start(options);
  apply(a_tpu_pod("one"));
  run(30s);
  EXPECT_EQ(autoscaler_->counts().failed_scale_ups, 1);
  EXPECT_THAT(node_of("one"), StartsWith("b-")) << "the other group is tried next";
  apply(a_tpu_pod("two").on_pool("a"));
  run(30s);
  EXPECT_THAT(events(),
              Contains(AllOf(StartsWith("two NotTriggerScaleUp"), HasSubstr("1 in backoff after failed scale-up"))));
  run(30s);
  EXPECT_EQ(autoscaler_->counts().failed_scale_ups, 2);
  ASSERT_TRUE(autoscaler_->set_capacity("a", true).ok());
  run(20s);
  EXPECT_THAT(node_of("two"), StartsWith("a-"));
  EXPECT_EQ(autoscaler_->set_capacity("c", true).error().code(), ErrorCode::kNotFound);
}

TEST_F(AutoscalerTest, AnUnneededPoolIsRemovedWhole) {
  start({.unneeded_time = 60s});
  apply(a_tpu_pod("one"));
  run(100s);
  ASSERT_THAT(tpu_nodes(), SizeIs(4)) << "one pod keeps all nodes";
  ASSERT_TRUE(cluster_.remove("pods", {"default", "one"}).ok());
  apply(a_tpu_pod("gated").gate("tpuslice.dev/slice"));
  run(55s);
  EXPECT_THAT(tpu_nodes(), SizeIs(4));
  run(20s);
  EXPECT_THAT(tpu_nodes(), IsEmpty()) << "gated pods do not count";
  EXPECT_EQ(autoscaler_->counts().scale_downs, 1);
}

TEST(ObservedPods, OfDaemonSetsDoNotKeepANode) {
  Json pod = a_pod("p");
  pod["spec"]["nodeName"] = "a-1";
  EXPECT_TRUE(ObservedPod::decode(pod).keeps_node());
  pod["metadata"]["ownerReferences"] = Json::array({{{"kind", "DaemonSet"}, {"name", "d"}, {"controller", true}}});
  EXPECT_FALSE(ObservedPod::decode(pod).keeps_node());
}

TEST_F(AutoscalerTest, NodesAreTaintedBeforeTheyAreDeleted) {
  start({.unneeded_time = 10s, .scan_interval = 5s});
  apply(a_tpu_pod("one"));
  run(20s);
  ASSERT_TRUE(cluster_.remove("pods", {"default", "one"}).ok());
  const auto tainted = [&] { return node("a-0")["spec"]["taints"].dump().find("ToBeDeleted") != std::string::npos; };
  ASSERT_TRUE(
      cluster_.run_until(clock_, 60s, tainted, [&](Instant now) { return std::optional(autoscaler_->step(now)); }));
  // A pod that tolerates everything keeps the pool after all.
  Json late = a_tpu_pod("late").on_pool("a");
  late["spec"]["tolerations"] = Json::array({{{"operator", "Exists"}}});
  apply(late);
  run(7s);
  EXPECT_THAT(tpu_nodes(), SizeIs(4));
  EXPECT_FALSE(tainted());
}

TEST_F(AutoscalerTest, AnEmptyPoolOfCordonedNodesIsRemoved) {
  start({.unneeded_time = 10s});
  apply(a_tpu_pod("one"));
  run(20s);
  for (const char* node : {"a-0", "a-1", "a-2", "a-3"}) ASSERT_TRUE(cluster_.cordon(node).ok());
  ASSERT_TRUE(cluster_.remove("pods", {"default", "one"}).ok());
  run(5s);
  EXPECT_THAT(tpu_nodes(), SizeIs(4));
  run(20s);
  EXPECT_THAT(tpu_nodes(), IsEmpty()) << "no pod can use cordoned nodes";
}

TEST_F(AutoscalerTest, APoolThatLostANodeIsRemovedWhole) {
  start();
  apply(a_tpu_pod("one"));
  run(20s);
  const std::string used = node_of("one");
  ASSERT_TRUE(cluster_.delete_node(used == "a-3" ? "a-0" : "a-3").ok());
  run(1s);
  EXPECT_EQ(autoscaler_->counts().scale_downs, 1);
  apply(a_tpu_pod("two"));
  run(20s);
  EXPECT_THAT(tpu_nodes(), ElementsAre("a-0", "a-1", "a-2", "a-3")) << "it comes again as a whole";
}

TEST_F(AutoscalerTest, AGroupWithAMinimumIsThereFromTheStart) {
  AutoscalerOptions options{.groups = two_groups(), .unneeded_time = 5s};
  options.groups[1].min = 4;
  start(options);
  run(60s);
  EXPECT_THAT(tpu_nodes(), ElementsAre("b-0", "b-1", "b-2", "b-3"));
}

TEST_F(AutoscalerTest, WritesItsStatusAndRemovesAll) {
  start();
  apply(a_tpu_pod("one"));
  run(10s);
  sim::JsonPtr status = cluster_.get("configmaps", autoscaler_status_key());
  ASSERT_NE(status, nullptr);
  const std::string first = (*status)["metadata"]["annotations"].dump();
  EXPECT_THAT(first, HasSubstr("\"cluster-autoscaler.kubernetes.io/last-updated\":\"2026-01-01 00:00:"));
  EXPECT_THAT(first, HasSubstr(" +0000 UTC\""));
  EXPECT_THAT(string_at(*status, {"data", "status"}), HasSubstr("cloudProviderTarget: 4"));
  run(5s);
  status = cluster_.get("configmaps", autoscaler_status_key());
  EXPECT_NE((*status)["metadata"]["annotations"].dump(), first);
  ASSERT_TRUE(autoscaler_->remove_all().ok());
  EXPECT_THAT(tpu_nodes(), IsEmpty());
  EXPECT_EQ(cluster_.get("configmaps", autoscaler_status_key()), nullptr);
}

TEST(NodeGroups, HaveMinimumAndMaximumOfZeroOrAllHosts) {
  const Json pool = {{"name", "a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}};
  const auto error_with = [&](const Json& fields) {
    Json with = pool;
    with.update(fields);
    const auto parsed = parse_node_groups(Json::array({with}));
    return parsed ? std::string() : parsed.error().message();
  };
  EXPECT_EQ(error_with({{"min", 0}, {"max", 4}}), "");
  EXPECT_EQ(error_with({{"min", 4}}), "");
  EXPECT_EQ(error_with({{"min", 2}}), "groups[0].min: Invalid value: 2: must be 0 or 4, the hosts of the pool");
  EXPECT_EQ(error_with({{"max", "x"}}), "groups[0].max: Invalid value: \"x\": must be 0 or 4, the hosts of the pool");
  EXPECT_EQ(error_with({{"min", 4}, {"max", 0}}), "groups[0].min: Invalid value: 4: must not be more than max");
  EXPECT_THAT(error_with({{"size", 4}}), HasSubstr("unknown field"));
}

}  // namespace
}  // namespace tpuslice::testing
