// Pods that are being deleted on nodes that are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/slice/slices.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using plan::Plan;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Options kOptions{.node_timeout = 40s, .lost_pod_timeout = 5min};

/// Two hosts on pool-a, being deleted since second 100; host 1's node is silent since second 60.
SliceObserved terminating_slice(Duration now) {
  const auto terminates = [](PodView& pod) { pod.deletion = after(100s); };
  const auto silent = [](NodeView& node) {
    node.ready = false;
    node.ready_changed = after(60s);
  };
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").host(0, terminates).host(1, terminates);
  SliceObserved seen{{"default", "train"}, slice.pods(), {}, after(now)};
  for (const NodePtr& node : a_pool("pool-a").node(1, silent).nodes()) seen.nodes.emplace(node->key.name, node);
  return seen;
}

TEST(LostPod, IsForceDeletedFiveMinutesAfterItsDeletionWasDue) {
  const Plan plan = plan_slice(terminating_slice(400s), kOptions);
  ASSERT_THAT(writes_of(plan), ElementsAre("delete Pod train-1")) << "the node of the other pod is Ready";
  const plan::Action action = action_of(plan, "delete Pod train-1");
  EXPECT_EQ(action.preconditions.uid, "uid-of-train-1");
  EXPECT_EQ(action.grace_seconds, 0);
  EXPECT_THAT(plan.events, IsEmpty());
  ASSERT_NE(action.events, nullptr);
  ASSERT_THAT(action.events->on_success, SizeIs(1));
  EXPECT_EQ(action.events->on_success[0].reason, "LostPodDeleted");
  EXPECT_EQ(action.events->on_success[0].message,
            "Pod train-1 should have terminated at 2026-01-01T00:01:40Z, and its node pool-a-1 is not Ready: deleted "
            "without waiting for the node");
}

TEST(LostPod, IsRequeuedForTheTimeout) {
  const Plan plan = plan_slice(terminating_slice(399s), kOptions);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(1s));
}

TEST(LostPod, IsKeptUntilItsNodeIsLost) {
  SliceObserved seen = terminating_slice(401s);
  seen.nodes["pool-a-1"] = with(seen.nodes["pool-a-1"], [](NodeView& node) { node.ready_changed = after(400s); });
  const Plan plan = plan_slice(seen, kOptions);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(39s));
}

TEST(LostPod, OfAStatefulSetIsKept) {
  SliceObserved seen = terminating_slice(4000s);
  for (PodPtr& pod : seen.pods) {
    pod = with(pod, [](PodView& view) { view.controller = ControllerRef{"apps/v1", "StatefulSet", "set", "uid"}; });
  }
  const Plan plan = plan_slice(seen, kOptions);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(LostPod, OfADeletedNodeIsIgnored) {
  SliceObserved seen = terminating_slice(4000s);
  seen.nodes.erase("pool-a-1");
  EXPECT_TRUE(plan_slice(seen, kOptions).empty());
}

}  // namespace
}  // namespace tpuslice::slice
