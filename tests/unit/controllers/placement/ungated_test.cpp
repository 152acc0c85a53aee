// Slices without scheduling gates, which kube-scheduler places pod by pod; and preempted slices.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/placement_plan.h"
#include "controllers/slice/slice_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using slice::plan_slice;
using slice::SliceObserved;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kNoChips =
    "0/9 nodes are available: 1 Insufficient google.com/tpu, 8 node(s) didn't match Pod's node affinity/selector.";
constexpr const char* kNoPool = "0/9 nodes are available: 9 node(s) didn't match Pod's node affinity/selector.";

PodChange refused_with(const std::string& message) {
  return [=](PodView& pod) { pod.unschedulable = message; };
}

/// As a drain of the operator leaves it: no gate, and no record of a placement.
SliceBuilder without_gates(const SliceBuilder& slice = a_slice("train").hosts(3)) {
  return SliceBuilder(slice).each([](PodView& pod) { pod.scheduling.edit().gates.clear(); });
}

PodChange bound_to(const std::string& node) {
  return [=](PodView& pod) {
    pod.node_name = node;
    pod.phase = PodPhase::kRunning;
  };
}

SliceObserved view_of(const SliceBuilder& slice, Duration now = 1min) {
  SliceObserved seen{slice.key(), slice.pods(), {}, after(now)};
  for (const NodePtr& node : a_pool("pool-a").size(4).nodes()) seen.nodes.emplace(node->key.name, node);
  return seen;
}

/// "train-0 waiting=...", "delete Pod train-1"
std::vector<std::string> pod_writes_of(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.kind == plan::ActionKind::kDelete) {
        out.push_back(write_of(action));
        continue;
      }
      EXPECT_FALSE(action.preconditions.uid.empty());
      const Json body = *action.body.make();
      EXPECT_FALSE(body.contains("spec")) << body.dump();
      out.push_back(
          fmt::format("{} waiting={}", action.key.name, string_at(body, {"metadata", "annotations", tpu::kWaiting})));
    }
  }
  return out;
}

TEST(UngatedSlice, SaysWhyItsFirstPodHasNoNode) {
  const plan::Plan plan = plan_slice(view_of(without_gates().each(refused_with(kNoChips))), {});
  EXPECT_THAT(pod_writes_of(plan),
              ElementsAre("train-0 waiting=pod train-0 has no node yet: Insufficient google.com/tpu; its "
                          "slice has no scheduling gate, so its pods get nodes one by one"));
  ASSERT_EQ(plan.events.size(), 2U);
  EXPECT_EQ(plan.events[0].reason, "SliceWaiting");
  EXPECT_EQ(plan.events[0].message,
            "Slice train waits: pod train-0 has no node yet: Insufficient google.com/tpu; its slice has no scheduling "
            "gate, so its pods get nodes one by one");
  EXPECT_NE(plan.reason, "");
}

TEST(UngatedSlice, SaysThatNoNodeMatches) {
  EXPECT_THAT(
      pod_writes_of(plan_slice(view_of(without_gates().host(1, refused_with(kNoPool))), {})),
      ElementsAre("train-1 waiting=pod train-1 has no node yet: no node matches its node selector and affinity; "
                  "its slice has no scheduling gate, so its pods get nodes one by one"));
}

TEST(UngatedSlice, SaysWhichDomainItsOtherPodsHold) {
  const SliceBuilder slice = without_gates().host(0, bound_to("pool-a-0")).host(2, refused_with(kNoChips));
  EXPECT_THAT(
      pod_writes_of(plan_slice(view_of(slice), {})),
      ElementsAre(
          "train-2 waiting=pod train-2 has no node yet: Insufficient google.com/tpu; its slice has no scheduling "
          "gate, and others of its pods hold nodes of node pool pool-a"));
  SliceObserved seen = view_of(slice);
  seen.nodes.clear();
  EXPECT_THAT(pod_writes_of(plan_slice(seen, {})),
              ElementsAre("train-2 waiting=pod train-2 has no node yet: Insufficient google.com/tpu; its slice has no "
                          "scheduling gate, so its pods get nodes one by one"))
      << "the node was deleted";
}

TEST(UngatedSlice, NamesAnotherGate) {
  const auto gated = [](PodView& pod) { pod.scheduling.edit().gates = {"kueue.x-k8s.io/admission"}; };
  EXPECT_THAT(pod_writes_of(plan_slice(view_of(without_gates().each(gated)), {})),
              ElementsAre("train-0 waiting=pod train-0 is held by scheduling gate kueue.x-k8s.io/admission"));
}

TEST(UngatedSlice, GetsItsReasonOnceAndLosesItWithItsNode) {
  SliceObserved seen = view_of(without_gates().each(refused_with(kNoChips)));
  apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
  seen.pods[0] = with(seen.pods[0], bound_to("pool-a-0"));
  const plan::Plan moved = plan_slice(seen, {});
  EXPECT_THAT(pod_writes_of(moved),
              ElementsAre("train-0 waiting=",
                          "train-1 waiting=pod train-1 has no node yet: Insufficient google.com/tpu; "
                          "its slice has no scheduling gate, and others of its pods hold nodes of "
                          "node pool pool-a"));
  EXPECT_THAT(moved.events, IsEmpty()) << "the wait has begun before";
  apply_plan(moved, seen.pods);
  for (PodPtr& pod : seen.pods) pod = with(pod, bound_to("pool-a-1"));
  const plan::Plan placed = plan_slice(seen, {});
  EXPECT_THAT(pod_writes_of(placed), ElementsAre("train-1 waiting="));
  apply_plan(placed, seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
}

TEST(UngatedSlice, GetsNoReasonWhileItIsNewOrUntried) {
  const plan::Plan young = plan_slice(view_of(without_gates().created(10s).each(refused_with(kNoChips)), 12s), {});
  EXPECT_TRUE(young.empty());
  EXPECT_EQ(young.requeue_after, Duration(3s));
  EXPECT_TRUE(plan_slice(view_of(without_gates(), 29s), {}).empty()) << "kube-scheduler has not tried yet";
  EXPECT_TRUE(plan_slice(view_of(without_gates(a_slice("train").hosts(1)).each(refused_with(kNoChips))), {}).empty())
      << "a slice of one host has never a gate";
}

TEST(UngatedSlice, SaysSinceWhenItHasNoNodeIfKubeSchedulerDoesNotSayWhy) {
  EXPECT_THAT(
      pod_writes_of(plan_slice(view_of(without_gates(), 30s), {})),
      ElementsAre("train-0 waiting=pod train-0 has no node yet: it waits for one since 2026-01-01T00:00:00Z, and "
                  "kube-scheduler reports no reason; its slice has no scheduling gate, so its pods get nodes "
                  "one by one"));
}

TEST(UngatedSlice, LeavesTheReasonToThePlacementIfItIsPartlyGated) {
  const auto ungated = [](PodView& pod) {
    pod.scheduling.edit().gates.clear();
    pod.unschedulable = kNoChips;
  };
  const SliceBuilder slice = a_slice("train").hosts(3).host(0, ungated);
  EXPECT_TRUE(plan_slice(view_of(slice), {}).empty());
  EXPECT_THAT(pod_writes_of(plan_placement(observed({}, {slice}, 1min), {})),
              ElementsAre("train-1 waiting=pod train-0 was created without scheduling gate: delete it, and all pods of "
                          "the slice start together"));
  const auto explained = [](PodView& pod) { pod.annotations[std::string(tpu::kWaiting)] = "before"; };
  EXPECT_THAT(pod_writes_of(plan_slice(view_of(a_slice("train").hosts(3).host(0, ungated).host(0, explained)), {})),
              ElementsAre("train-0 waiting="));
}

// Slices that are preempted.

SliceBuilder preempted() {
  return a_slice("low").hosts(3).runs_in("pool-a").each(
      [](PodView& pod) { pod.disruption = std::string(tpu::kPreemptionBySlice); });
}

TEST(PreemptedSlice, IsNotTornDownASecondTime) {
  const plan::Plan plan = plan_slice(view_of(preempted().terminating(1)), {});
  EXPECT_THAT(pod_writes_of(plan), ElementsAre("delete Pod low-0", "delete Pod low-2"))
      << "the deletes were interrupted";
  EXPECT_THAT(events_of(plan), IsEmpty()) << "SlicePreempted says why";
  EXPECT_THAT(measurements_of(plan), IsEmpty()) << "it is counted as preempted";
  EXPECT_NE(plan.reason, "");
}

TEST(PreemptedSlice, IsLeftAloneOnceAllItsPodsAreDeleted) {
  EXPECT_TRUE(plan_slice(view_of(preempted().terminating(0).terminating(1).terminating(2)), {}).empty());
}

TEST(PreemptedSlice, RunsOnUntilItsFirstPodIsDeleted) {
  EXPECT_TRUE(plan_slice(view_of(preempted()), {}).empty()) << "the leader may have stopped before its deletes";
}

TEST(PreemptedSlice, IsDifferentFromOneThatIsDeleted) {
  const plan::Plan plan = plan_slice(view_of(a_slice("low").hosts(3).runs_in("pool-a").terminating(1)), {});
  EXPECT_THAT(plan, plan::HasEvent("SliceTornDown"));
}

}  // namespace
}  // namespace tpuslice::placement
