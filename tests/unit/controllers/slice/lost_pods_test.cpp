// Pods that are being deleted on nodes that are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "tests/unit/controllers/slice/slices.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using runtime::Plan;
using ::testing::SizeIs;

constexpr Options kOptions{.lost_after = 40s, .given_up_after = 5min};

/// Two hosts on pool-a, being deleted since second 100; host 1's node is silent since second 60.
SliceObserved leaving_slice(Duration now) {
  const auto ends = [](PodView& pod) { pod.deletion = after(100s); };
  const auto silent = [](NodeView& node) {
    node.ready = false;
    node.ready_changed = after(60s);
  };
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").host(0, ends).host(1, ends);
  SliceObserved seen{{"default", "train"}, slice.pods(), {}, after(now)};
  for (const NodePtr& node : a_pool("pool-a").node(1, silent).nodes()) seen.nodes.emplace(node->key.name, node);
  return seen;
}

TEST(LostPod, IsDeletedWithoutItsNodeFiveMinutesAfterItShouldHaveEnded) {
  const Plan plan = plan_slice(leaving_slice(400s), kOptions);
  ASSERT_THAT(plan.stages, SizeIs(1));
  ASSERT_THAT(plan.stages[0].actions, SizeIs(1));
  const runtime::Action& action = plan.stages[0].actions[0];
  EXPECT_EQ(action.kind, runtime::ActionKind::kDelete);
  EXPECT_EQ(action.key.name, "train-1") << "the other's node is Ready and will end it";
  EXPECT_EQ(action.preconditions.uid, "uid-of-train-1");
  EXPECT_EQ(action.grace_seconds, 0);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].reason, "LostPodDeleted");
  EXPECT_EQ(plan.events[0].after, std::nullopt) << "a warning that waits for its action is told only if that fails";
  EXPECT_EQ(plan.events[0].message,
            "Pod train-1 should have ended at 2026-01-01T00:01:40Z, and its node pool-a-1 is not Ready: it is deleted "
            "without waiting for the node");
}

TEST(LostPod, IsLookedAtAgainWhenItIsTime) {
  const Plan plan = plan_slice(leaving_slice(399s), kOptions);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(1s));
}

TEST(LostPod, IsNotGivenUpBeforeItsNodeIs) {
  SliceObserved seen = leaving_slice(401s);
  seen.nodes["pool-a-1"] = with(seen.nodes["pool-a-1"], [](NodeView& node) { node.ready_changed = after(400s); });
  const Plan plan = plan_slice(seen, kOptions);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(39s));
}

TEST(LostPod, OfAStatefulSetStays) {
  SliceObserved seen = leaving_slice(4000s);
  for (PodPtr& pod : seen.pods) {
    pod = with(pod, [](PodView& view) { view.controller = ControllerRef{"apps/v1", "StatefulSet", "set", "uid"}; });
  }
  const Plan plan = plan_slice(seen, kOptions);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(LostPod, OfANodeThatIsGoneIsLeftToKubernetes) {
  SliceObserved seen = leaving_slice(4000s);
  seen.nodes.erase("pool-a-1");
  EXPECT_TRUE(plan_slice(seen, kOptions).empty());
}

}  // namespace
}  // namespace tpuslice::slice
