// Pods without TPUs that are being deleted on nodes that are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/lost_pod_reconciler.h"
#include "controllers/slice/lost_pods.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Options kHeadOptions{.node_timeout = 40s, .teardown_interval = 10s, .lost_pod_timeout = 5min};
constexpr ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters"};

/// The head of a RayCluster on a node without TPUs, being deleted since second 100.
PodView head(const std::string& name = "train-head") {
  PodView pod;
  pod.key = {"default", name};
  pod.uid = "uid-of-" + name;
  pod.node_name = "cpu-0";
  pod.controller = ControllerRef{"ray.io/v1", "RayCluster", "train", "uid-of-train"};
  pod.deletion = after(100s);
  return pod;
}

NodeView silent_node(const std::string& name = "cpu-0") {
  NodeView node;
  node.key = {"", name};
  node.ready_changed = after(60s);
  return node;
}

LostPodObserved lost_head(Duration now) {
  return {std::make_shared<const PodView>(head()), std::make_shared<const NodeView>(silent_node()),
          NotReady{after(60s)}, after(now)};
}

TEST(LostHead, IsForceDeletedFiveMinutesAfterItsDeletionWasDue) {
  const plan::Plan plan = plan_lost_pod(lost_head(400s), kHeadOptions);
  ASSERT_THAT(writes_of(plan), ElementsAre("delete Pod train-head"));
  const plan::Action action = action_of(plan, "delete Pod train-head");
  EXPECT_EQ(action.preconditions.uid, "uid-of-train-head");
  EXPECT_EQ(action.grace_seconds, 0);
  ASSERT_NE(action.events, nullptr);
  ASSERT_EQ(action.events->on_success.size(), 1U);
  EXPECT_EQ(action.events->on_success[0].reason, "LostPodDeleted");
  EXPECT_EQ(action.events->on_success[0].regarding->kind, "RayCluster");
}

TEST(LostHead, IsKeptUntilThen) {
  const plan::Plan early = plan_lost_pod(lost_head(399s), kHeadOptions);
  EXPECT_TRUE(early.empty());
  EXPECT_EQ(early.requeue_after, Duration(1s));
  LostPodObserved recent = lost_head(420s);
  recent.health = NotReady{after(400s)};
  EXPECT_TRUE(plan_lost_pod(recent, kHeadOptions).empty()) << "its node is not lost yet";
  EXPECT_EQ(plan_lost_pod(recent, kHeadOptions).requeue_after, Duration(20s));
  LostPodObserved in_turn = lost_head(400s);
  in_turn.turn = after(410s);
  EXPECT_TRUE(plan_lost_pod(in_turn, kHeadOptions).empty());
  EXPECT_EQ(plan_lost_pod(in_turn, kHeadOptions).requeue_after, Duration(10s));
}

TEST(LostHead, IsKeptWhileManyNodesAreNotReady) {
  LostPodObserved seen = lost_head(4000s);
  seen.health = NotReady{after(60s), std::nullopt};
  EXPECT_TRUE(plan_lost_pod(seen, kHeadOptions).empty());
  EXPECT_EQ(plan_lost_pod(seen, kHeadOptions).requeue_after, kHeadOptions.node_timeout);
}

TEST(LostHead, IsKeptOnANodeThatIsReadyOrGone) {
  LostPodObserved ready = lost_head(4000s);
  ready.health.reset();
  EXPECT_TRUE(plan_lost_pod(ready, kHeadOptions).empty());
  LostPodObserved gone = lost_head(4000s);
  gone.node = nullptr;
  EXPECT_TRUE(plan_lost_pod(gone, kHeadOptions).empty()) << "Kubernetes deletes it";
}

TEST(LostPods, AreThoseOfNoSliceWhoseControllerMayReplaceThem) {
  EXPECT_TRUE(may_be_lost(head()));
  PodView pod = head();
  pod.deletion.reset();
  EXPECT_FALSE(may_be_lost(pod)) << "it is not being deleted";
  pod = head();
  pod.labels[std::string(tpu::kSlice)] = "train-0";
  EXPECT_FALSE(may_be_lost(pod)) << "the plan of its slice deletes it";
  pod = head();
  pod.controller = ControllerRef{"apps/v1", "StatefulSet", "set", "uid"};
  EXPECT_FALSE(may_be_lost(pod)) << "there may be at most one pod of its name";
  pod.controller.reset();
  EXPECT_FALSE(may_be_lost(pod));
}

/// A reconciler with a node and its pods; time begins with a Ready node.
class LostHeads : public ::testing::Test {
 protected:
  LostHeads() : health_(std::make_shared<NodeHealth>(kHeadOptions, after(0s))) {
    workloads_.add(kRayClusters, clusters_, {}, nullptr);
  }
  void lose_nodes(int count) {
    for (int i = 0; i < count; ++i) {
      const NodeView silent = silent_node("cpu-" + std::to_string(i));
      NodeView ready = silent;
      ready.ready = true;
      const auto before = std::make_shared<const NodeView>(ready);
      health_->record(nullptr, before, after(0s));
      health_->record(before, std::make_shared<const NodeView>(silent), after(60s));
      nodes_.put(silent);
    }
  }
  [[nodiscard]] plan::Plan plan(const std::string& name, Duration now) const {
    return reconciler_.plan({{"default", name}, after(now), std::nullopt}).value();
  }

  runtime::ObjectStore clusters_{kRayClusters};
  runtime::PodStore pods_{kPods};
  runtime::NodeStore nodes_{kNodes};
  Workloads workloads_;
  const std::shared_ptr<NodeHealth> health_;
  const LostPodReconciler reconciler_{runtime::PodStores({&pods_}), nodes_, health_, kHeadOptions};
};

TEST_F(LostHeads, AreDeletedAtTheRateOfSlices) {
  lose_nodes(1);
  for (int i = 0; i < 12; ++i) pods_.put(head("head-" + std::to_string(i)));
  int deleted = 0;
  for (int i = 0; i < 12; ++i) deleted += plan("head-" + std::to_string(i), 1000s).empty() ? 0 : 1;
  EXPECT_EQ(deleted, 10);
  EXPECT_EQ(plan("head-10", 1000s).requeue_after, Duration(10s));
  EXPECT_FALSE(plan("head-10", 1010s).empty());
  EXPECT_TRUE(plan("gone", 1010s).empty());
}

TEST_F(LostHeads, AreKeptWhileManyNodesWithoutTpusAreNotReady) {
  lose_nodes(3);
  pods_.put(head());
  EXPECT_TRUE(plan("train-head", 4000s).empty());
  EXPECT_TRUE(plan("train-head", 4000s).requeue_after);
}

TEST_F(LostHeads, AreThoseOfWorkloadsThatTheOperatorServes) {
  EXPECT_THAT(lost_pod(workloads_, head()), ElementsAre(head().key));
  PodView of_job = head();
  of_job.controller->kind = "Job";
  EXPECT_THAT(lost_pod(workloads_, of_job), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::slice
