// What plans of slices report for the history.
#include "controllers/slice/interruptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/interruption.h"
#include "controllers/slice/slice_plan.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;

SliceBuilder hundred_seconds_old() { return a_slice("train").hosts(4).runs_in("pool-a", 60s); }

/// What the plan of the slice reports at `now`; a null pointer if it deletes nothing.
std::shared_ptr<const plan::Interruption> reported(const SliceBuilder& slice, Duration now = 160s,
                                                   const PoolBuilder& pool = a_pool("pool-a").size(4)) {
  SliceObserved seen{slice.key(), slice.pods(), {}, after(now)};
  for (const NodePtr& node : pool.nodes()) {
    seen.nodes[node->key.name] = node;
    if (!node->ready) seen.not_ready[node->key.name] = {after(0s)};
  }
  const plan::Plan plan = plan_slice(seen, {.node_timeout = 40s});
  if (plan.stages.empty()) return nullptr;
  const auto& events = plan.stages.back().actions.back().events;
  return events == nullptr ? nullptr : events->interruption;
}

TEST(Interruption, HasTheHostThatFailed) {
  const auto out = reported(hundred_seconds_old().host(2, [](PodView& pod) {
    pod.phase = PodPhase::kFailed;
    pod.failure = "container train: OOMKilled, exit code 137";
    pod.containers = {{.name = "sidecar"}, {.name = "train", .terminated = true, .exit_code = 137}};
  }));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->what, plan::kTornDown);
  EXPECT_EQ(out->code, "PodLost");
  EXPECT_EQ(out->why, "pod train-2 failed on node pool-a-2: container train: OOMKilled, exit code 137");
  EXPECT_EQ(out->host, 2);
  EXPECT_EQ(out->container, "train");
  EXPECT_EQ(out->exit_code, 137);
  EXPECT_EQ(out->node, "pool-a-2");
  EXPECT_EQ(out->pool, "pool-a");
  EXPECT_EQ(out->accelerator, kV6e);
  EXPECT_EQ(out->host_seconds, 400) << "4 hosts have run for 100 s";
  EXPECT_EQ(out->slice, hundred_seconds_old().key());
  EXPECT_EQ(out->workload.kind, "Job");
  EXPECT_EQ(out->placement, hundred_seconds_old().pod(0)->annotation(tpu::kSliceMembers));
  EXPECT_EQ(out->time, after(160s));
}

TEST(Interruption, HasTheLostNode) {
  const auto out = reported(hundred_seconds_old(), 160s, a_pool("pool-a").size(4).node(3, not_ready));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->code, "NodeLost");
  EXPECT_EQ(out->host, 3);
  EXPECT_EQ(out->node, "pool-a-3");
  EXPECT_EQ(out->container, "");
}

TEST(Interruption, IsARestartIfAPodWasDeleted) {
  const auto out = reported(hundred_seconds_old().terminating(1));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->what, plan::kRestarted);
  EXPECT_EQ(out->code, "PodDeleted");
  EXPECT_EQ(out->host, 1);
}

TEST(Interruption, OfARejectedPlacementLosesNoWork) {
  const auto out = reported(
      hundred_seconds_old().unscheduled(1).host(1, [](PodView& pod) { pod.unschedulable = "0/4 nodes: no memory"; }),
      1h);
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->what, plan::kRejected);
  EXPECT_EQ(out->code, "NotScheduled");
  EXPECT_EQ(out->host_seconds, 0);
}

TEST(Interruption, IsTheSameInThePlanThatDeletesTheRest) {
  const auto first = reported(hundred_seconds_old().fails(2));
  const auto second = reported(hundred_seconds_old().fails(2).terminating(0).terminating(1));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->placement, second->placement);
}

/// Regression: it was the uid of the first host that was left.
TEST(Interruption, WithoutTheAnnotationHasNoPlacementUnlessTheSliceIsOnePod) {
  const auto without = [](PodView& pod) { pod.annotations.erase(std::string(tpu::kSliceMembers)); };
  const auto placement = [](const SliceBuilder& slice) {
    const auto out = interruption_of(slice.slice(), {plan::kTornDown, "PodLost", "x"}, after(1h));
    return out == nullptr ? "<none>" : out->placement;
  };
  EXPECT_EQ(placement(hundred_seconds_old().each(without).fails(2)), "");
  EXPECT_EQ(placement(hundred_seconds_old().each(without).fails(2).terminating(0)), "");
  const SliceBuilder single = a_slice("train").hosts(1).runs_in("pool-a", 60s).each(without);
  EXPECT_EQ(placement(single), single.pod(0)->uid);
}

TEST(Interruption, OfASliceOfWhichNoPodIsLeftIsThatOfTheLostPod) {
  const PodPtr lost = hundred_seconds_old().fails(2).pod(2);
  const auto out = interruption_of(read_slice(hundred_seconds_old().key(), {lost}),
                                   {plan::kTornDown, "PodLost", "x", lost}, after(1h));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->placement, lost->annotation(tpu::kSliceMembers));
  EXPECT_EQ(interruption_of(Slice(), {plan::kTornDown, "PodLost", "x"}, after(1h)), nullptr);
}

}  // namespace
}  // namespace tpuslice::slice
