// What went wrong with slices of seldom kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/domains/inventory.h"
#include "controllers/placement/domains/node_match.h"
#include "controllers/placement/placement_plan.h"
#include "controllers/slice/slice_plan.h"
#include "controllers/slice/slice_state.h"
#include "tests/support/chips.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using slice::plan_slice;
using slice::SliceObserved;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RareCases, GangReasonSaysHowManyDomainsAreFree) {
  const auto plan =
      plan_placement(observed({a_pool("pool-a")}, {a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)}), {});
  EXPECT_THAT(plan.reason, Not(HasSubstr("none is free: pool-a is free"))) << plan.reason;
}

TEST(RareCases, NodesWithDifferentChipsAreUnusable) {
  SceneInventory inventory(a_pool("pool-a").size(3).node(0, [](NodeView& n) { tpu::set_chips(n, 8); }).nodes(), {});
  EXPECT_EQ(inventory.check(node_requirements(a_slice("x").hosts(4).slice()), "pool-a").obstacle, Obstacle::kUnusable);
}

TEST(RareCases, TaintNotToleratedByOnePodMakesADomainUnusable) {
  SceneInventory inventory(a_pool("pool-a").nodes(), {});
  EXPECT_EQ(inventory
                .check(node_requirements(
                           a_slice("x").host(1, [](PodView& p) { p.scheduling.edit().tolerations.clear(); }).slice()),
                       "pool-a")
                .obstacle,
            Obstacle::kUnusable);
}

TEST(RareCases, TaintWithoutValueIsPrintedAsByKubectl) {
  NodeView node;
  node.taints = {{"repair", "", "NoSchedule"}};
  EXPECT_EQ(untolerated_taint(PodView{}, node), "repair:NoSchedule");
}

TEST(RareCases, UngatedPodIsTheWaitingReasonOfTheOthers) {
  const SliceBuilder s = a_slice("x").runs_in("pool-a").record("").gated(1);
  EXPECT_FALSE(plan_slice({s.key(), s.pods(), {}, after(1h)}, {}).empty() &&
               plan_placement(observed({}, {s}, 1h), {}).empty());
}

TEST(RareCases, SliceIsBrokenIfTheReplacementOfHostZeroIsNotGated) {
  const SliceBuilder s = a_slice("x").hosts(3).runs_in("pool-a").host(0, [](PodView& p) {
    p.uid = "new";
    p.annotations.erase(std::string(tpu::kSliceMembers));
  });
  EXPECT_EQ(state_of(s.slice(), after(1h)).phase, SlicePhase::kBroken);
}

TEST(RareCases, LaterHostsHaveTheirOwnSchedulingTimeout) {
  const SliceBuilder s =
      a_slice("x").start(tpu::kHost0IfAlone).runs_in("pool-a", 0s).record("open").gated(1).host(1, [](PodView& p) {
        p.created = after(5min);
      });
  SliceObserved seen{s.key(), s.pods(), {}, after(5min)};
  apply_plan(plan_slice(seen, {}), seen.pods);
  seen.now += 1s;
  seen.pods[1] = with(seen.pods[1], [](PodView& p) { p.unschedulable = "0/2 nodes: 1 Insufficient google.com/tpu"; });
  EXPECT_EQ(plan_slice(seen, {}).reason, "");
}

TEST(RareCases, NodeWithoutTransitionTimeIsLostAtOnce) {
  const SliceBuilder s = a_slice("x").runs_in("pool-a");
  SliceObserved seen{s.key(), s.pods(), {}, after(1h)};
  for (auto& n : a_pool("pool-a")
                     .each([](NodeView& v) {
                       v.ready = false;
                       v.ready_changed.reset();
                     })
                     .nodes())
    seen.nodes.emplace(n->key.name, n);
  EXPECT_FALSE(plan_slice(seen, {}).empty());
}

}  // namespace
}  // namespace tpuslice::placement
