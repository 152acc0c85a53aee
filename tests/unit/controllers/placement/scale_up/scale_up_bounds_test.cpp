// How many scouts there are, and the plans that create and delete them.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/scale_up/scouts.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

ScaleUpOptions at_most(std::size_t scouts) {
  ScaleUpOptions options = scout_options();
  options.max_scale_ups = scouts;
  return options;
}

/// The scouts of these slices, created at `when`.
std::vector<PodPtr> scouts_of(const std::vector<Slice>& slices, Duration when) {
  std::vector<PodPtr> out;
  for (const Slice& slice : slices) {
    out.push_back(a_scout(slice.key.name, [&](PodView& pod) {
      pod.annotations[std::string(tpu::kScaleUpFor)] = slice.key.to_string();
      pod.created = after(when) + (*slice.hosts.front()->created - start_of_time()) / 1000;
    }));
  }
  return out;
}

TEST(ScoutBounds, LimitScoutsWithOneSetOfRequirements) {
  EXPECT_THAT(decide_scouts({.ready = many_slices(9, 1, 9)}, at_most(3)).created, ElementsAre("s-00", "s-01", "s-02"));
  EXPECT_THAT(decide_scouts({.ready = many_slices(9, 1, 9)}, at_most(0)).created, IsEmpty());
}

TEST(ScoutBounds, LimitScoutsOfOneNamespace) {
  EXPECT_THAT(decide_scouts({.ready = many_slices(9, 9, 1)}, at_most(3)).created, ElementsAre("s-00", "s-01", "s-02"));
  EXPECT_THAT(decide_scouts({.ready = many_slices(8, 8, 2)}, at_most(3)).created, SizeIs(6));
}

TEST(ScoutBounds, LimitScoutsOfTheAccelerator) {
  EXPECT_THAT(decide_scouts({.ready = many_slices(30, 30, 30)}, at_most(1)).created, SizeIs(10));
  EXPECT_THAT(decide_scouts({.ready = many_slices(30, 30, 30)}, at_most(2)).created, SizeIs(20));
}

TEST(ScoutBounds, CountScoutsThatExist) {
  Scene scene{.ready = many_slices(5, 1, 5)};
  scene.scouts = scouts_of({scene.ready[3], scene.ready[4]}, 0s);
  const ScoutDecisions out = decide_scouts(scene, at_most(3));
  EXPECT_THAT(out.created, ElementsAre("s-00"));
  EXPECT_THAT(out.deleted, IsEmpty());
}

TEST(ScoutBounds, HoldForAWholeGang) {
  Scene scene{.ready = slices_of({a_slice("u").in("team"), a_slice("x").gang("g", 2).created(1s),
                                  a_slice("y").gang("g", 2).created(1s)})};
  EXPECT_THAT(decide_scouts(scene, at_most(2)).created, ElementsAre("u"));
  EXPECT_THAT(decide_scouts(scene, at_most(3)).created, ElementsAre("u", "x", "y"));
}

TEST(ScoutBounds, HoldForEachSliceOfAGang) {
  // The first slice of the gang has requirements of its own, the second those of two scouts.
  Scene scene{.ready = slices_of({a_slice("u").selects("kind", "1"), a_slice("v").selects("kind", "1"),
                                  a_slice("x").in("team").gang("g", 2).created(1s),
                                  a_slice("y").in("team").gang("g", 2).created(1s).selects("kind", "1")})};
  const ScoutDecisions out = decide_scouts(scene, at_most(2));
  EXPECT_THAT(out.created, ElementsAre("u", "v")) << "a third one with kind 1 exceeds the bound";
}

TEST(ScoutBounds, AllowAGangWhoseSlicesHaveDifferentRequirements) {
  Scene scene{.ready = slices_of({a_slice("u").in("team").selects("kind", "1"),
                                  a_slice("x").gang("g", 2).created(1s).selects("kind", "1"),
                                  a_slice("y").gang("g", 2).created(1s).selects("kind", "2")})};
  EXPECT_THAT(decide_scouts(scene, at_most(2)).created, ElementsAre("u", "x", "y")) << "two with kind 1, one with 2";
}

TEST(UnsuccessfulScouts, DoNotCountAgainstTheirNamespace) {
  Scene scene{.ready = many_slices(3, 3, 1), .now = 15min};
  scene.scouts = scouts_of({scene.ready[0]}, 0s);
  EXPECT_THAT(decide_scouts(scene, at_most(1)).created, ElementsAre("s-01"));
  EXPECT_THAT(decide_scouts(scene, at_most(1)).deleted, IsEmpty()) << "it is kept";
  scene.now = 15min - 1s;
  EXPECT_THAT(decide_scouts(scene, at_most(1)).created, IsEmpty());
}

TEST(UnsuccessfulScouts, GiveWayWithoutAnEvent) {
  Scene scene{.ready = many_slices(2, 2, 1), .now = 10min};
  scene.scouts = scouts_of({scene.ready[0]}, 0s);
  const ScoutDecisions out = decide_scouts(scene, at_most(1));
  ASSERT_THAT(out.created, IsEmpty());
  ASSERT_TRUE(out.changes_at.has_value()) << "after 15 minutes the second slice gets a scout";
  EXPECT_LE(*out.changes_at, Duration(15min));
}

TEST(UnsuccessfulScouts, AreNotThoseWithANode) {
  Scene scene{
      .nodes = a_pool("pool-a").label("kind", "0").without(1).nodes(), .ready = many_slices(2, 2, 1), .now = 20min};
  scene.scouts = {with(scouts_of({scene.ready[0]}, 0s).front(), [](PodView& pod) { pod.node_name = "pool-a-0"; })};
  EXPECT_THAT(decide_scouts(scene, at_most(1)).created, IsEmpty());
}

TEST(UnsuccessfulScouts, AreDeletedOldestFirstForNewOnes) {
  // With max_scale_ups of 1, ten for the accelerator; twenty unsuccessful ones.
  Scene scene{.ready = many_slices(23, 23, 23), .now = 1h};
  scene.scouts = scouts_of({scene.ready.begin(), scene.ready.begin() + 20}, 0s);
  std::ranges::reverse(scene.scouts);
  const ScoutDecisions out = decide_scouts(scene, at_most(1));
  EXPECT_THAT(out.created, ElementsAre("s-20", "s-21", "s-22"));
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-scout-of-s-00", "uid-of-scout-of-s-01", "uid-of-scout-of-s-02"));
}

TEST(UnsuccessfulScouts, DoNotMakeRoomBeyondTheBoundOfTheAccelerator) {
  Scene scene{.ready = many_slices(40, 40, 40), .now = 1h};
  scene.scouts = scouts_of({scene.ready.begin(), scene.ready.begin() + 20}, 0s);
  const ScoutDecisions out = decide_scouts(scene, at_most(1));
  EXPECT_THAT(out.created, SizeIs(10));
  EXPECT_THAT(out.deleted, SizeIs(10));
}

TEST(Scouts, AreNotDeletedTwice) {
  Scene scene{.ready = many_slices(25, 25, 25), .now = 1h};
  scene.scouts = scouts_of({scene.ready.begin(), scene.ready.begin() + 22}, 0s);
  for (const PodPtr& copy : scouts_of({scene.ready.begin(), scene.ready.begin() + 3}, 1s)) scene.scouts.push_back(copy);
  for (std::size_t i = 0; i < scene.scouts.size(); ++i) {
    scene.scouts[i] = with(scene.scouts[i], [&](PodView& pod) { pod.uid = fmt::format("uid-{}", i); });
  }
  std::vector<std::string> deleted = decide_scouts(scene, at_most(1)).deleted;
  const std::size_t count = deleted.size();
  std::ranges::sort(deleted);
  deleted.erase(std::unique(deleted.begin(), deleted.end()), deleted.end());
  EXPECT_EQ(deleted.size(), count);
  EXPECT_GE(count, 3U) << "the copies";
}

TEST(Scouts, AreTheSameForTheSameScene) {
  const auto decide_again = [] {
    Scene scene{.nodes = lettered_pools(3), .ready = many_slices(30, 7, 5), .now = 1h};
    scene.scouts = scouts_of({scene.ready.begin(), scene.ready.begin() + 25}, 0s);
    return decide_scouts(scene, at_most(2));
  };
  const ScoutDecisions first = decide_again();
  const ScoutDecisions second = decide_again();
  EXPECT_EQ(first.created, second.created);
  EXPECT_EQ(first.deleted, second.deleted);
  EXPECT_EQ(first.notes, second.notes);
  EXPECT_EQ(first.pods, second.pods);
}

// Plans.

const PlacementOptions kScoutPlans{.scale_up = scout_options()};

TEST(ScoutPlans, CreateAScoutAndWriteTheReason) {
  const plan::Plan plan = plan_placement(observed({}, {a_slice("x")}), kScoutPlans);
  const std::string scout = scale_up_name({"default", "x"});
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod x-0", "create Pod " + scout)));
  EXPECT_TRUE(plan.stages[0].continue_on_failure) << "a quota on scouts holds back no slice";
  const plan::Action create = action_of(plan, "create Pod " + scout);
  EXPECT_EQ(create.key.namespace_name, "tpu-system");
  EXPECT_EQ(create.failure_reason, "FailedScaleUp");
  EXPECT_EQ(string_at(*action_of(plan, "patch Pod x-0").body.make(), {"metadata", "annotations", tpu::kWaiting}),
            "no node pool matches the pods' node selector and affinity; scout pod tpu-system/" + scout +
                " asks the cluster autoscaler for nodes");
}

TEST(ScoutPlans, AreEmptyOnceTheyAreApplied) {
  PlacementScene seen = observed({a_pool("pool-a").node(0, not_ready)},
                                 {a_slice("x"), a_slice("y").gang("g", 2), a_slice("z").gang("g", 2)}, 1min);
  apply_plan(plan_placement(seen, kScoutPlans), seen.pods, seen.now);
  EXPECT_THAT(seen.pods, SizeIs(9));
  seen.now += 1s;
  const plan::Plan again = plan_placement(seen, kScoutPlans);
  EXPECT_TRUE(again.empty()) << plan::to_json(again).dump(2);
}

TEST(ScoutPlans, PlaceTheSliceAndDeleteItsScoutOnceThePoolIsWhole) {
  PlacementScene seen = observed({}, {a_slice("x")}, 1min);
  apply_plan(plan_placement(seen, kScoutPlans), seen.pods, seen.now);
  seen.pods.back() = with(seen.pods.back(), [](PodView& pod) { pod.node_name = "pool-new-1"; });
  seen.nodes = a_pool("pool-new").without(0).nodes();
  EXPECT_THAT(plan_placement(seen, kScoutPlans).reason, HasSubstr("has a node of pool-new, which is not whole yet"));
  seen.nodes = a_pool("pool-new").nodes();
  const plan::Plan plan = plan_placement(seen, kScoutPlans);
  EXPECT_THAT(plan.reason, HasSubstr("slice x of 2 hosts is placed in node pool pool-new"));
  const std::string scout = scale_up_name({"default", "x"});
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Pod " + scout), ElementsAre("patch Pod x-0")))
      << "before the autoscaler sees it beside used nodes";
  EXPECT_EQ(action_of(plan, "delete Pod " + scout).preconditions.uid, "uid-of-" + scout);
}

TEST(ScoutPlans, DeleteTheScoutOfASliceThatIsGone) {
  PlacementScene seen = observed({a_pool("pool-a")}, {}, 1min);
  seen.pods = {a_scout("gone")};
  const plan::Plan plan = plan_placement(seen, kScoutPlans);
  const std::string deletion = "delete Pod " + scale_up_name({"default", "gone"});
  EXPECT_THAT(writes_of(plan), ElementsAre(deletion));
  EXPECT_EQ(action_of(plan, deletion).key.namespace_name, "tpu-system");
}

TEST(ScoutPlans, TakeAPodOfAnotherNamespaceForAWorkload) {
  PlacementScene seen = observed({a_pool("pool-a")}, {a_slice("x")}, 1min);
  seen.pods.push_back(a_scout("x", [](PodView& pod) {
    pod.key.namespace_name = "default";
    pod.node_name = "pool-a-0";
  }));
  const plan::Plan plan = plan_placement(seen, kScoutPlans);
  EXPECT_THAT(plan.reason, HasSubstr("slice x waits"));
  EXPECT_THAT(writes_of(plan), Each(Not(StartsWith("delete "))));
}

TEST(ScoutPlans, AreForASliceWithOnlyItsFirstHost) {
  const plan::Plan plan =
      plan_placement(observed({}, {a_slice("x").start(tpu::kOthersFollowHost0).without(1)}, 1min), kScoutPlans);
  EXPECT_THAT(plan.reason, HasSubstr("asks the cluster autoscaler for nodes"));
}

TEST(ScoutNames, AreUniqueValidAndDerivedFromTheKey) {
  EXPECT_EQ(scale_up_name({"default", "x"}), scale_up_name({"default", "x"}));
  EXPECT_NE(scale_up_name({"default", "x"}), scale_up_name({"team", "x"}));
  EXPECT_NE(scale_up_name({"default", "x"}), scale_up_name({"default", "y"}));
  EXPECT_THAT(scale_up_name({"default", std::string(63, 'x')}), ::testing::MatchesRegex("scale-up-[a-z0-9]+"));
  EXPECT_LE(scale_up_name({std::string(63, 'n'), std::string(63, 'x')}).size(), 63U);
}

TEST(SliceOfScout, IsReadFromItsAnnotation) {
  const auto of = [](const std::string& text) {
    return slice_of_scout(*a_scout("x", [&](PodView& pod) { pod.annotations[std::string(tpu::kScaleUpFor)] = text; }));
  };
  EXPECT_EQ(of("default/train-0"), (ObjectKey{"default", "train-0"}));
  EXPECT_EQ(of("nonsense"), ObjectKey{});
  EXPECT_EQ(of(""), ObjectKey{});
}

TEST(IsScout, IsAPodOfTheNamespaceOfTheScoutsWithTheAnnotation) {
  EXPECT_TRUE(is_scout(*a_scout("x"), scout_options()));
  EXPECT_FALSE(is_scout(*a_scout("x", [](PodView& pod) { pod.key.namespace_name = "default"; }), scout_options()));
  EXPECT_FALSE(is_scout(*a_scout("x", [](PodView& pod) { pod.annotations.clear(); }), scout_options()));
}

}  // namespace
}  // namespace tpuslice::placement
