#include "controllers/placement/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/pod_patches.h"
#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

SliceBuilder leaving(SliceBuilder slice) { return slice.terminating(0).terminating(1); }

/// "low in pool-a", or "" if no domain can be made free for the slice.
std::string cheapest(const SliceBuilder& slice, const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods,
                     const std::set<DomainName>& claimed = {}, const std::set<std::string>& workloads = {}) {
  const std::vector<Slice> slices = read_slices(pods);
  RunningSlices running;
  for (const Slice& each : slices) running.emplace(each.key, &each);
  SceneInventory inventory(nodes, pods);
  const DomainFailures failures;
  const std::set<std::string> scout_nodes;
  const Slice preemptor = slice.slice();
  PodVictims pods_of_none;
  Candidates candidates(inventory, node_requirements(preemptor), {failures, scout_nodes});
  const auto found =
      cheapest_victims(candidates, inventory, running, preemptor.priority(), {claimed, {}, workloads}, pods_of_none);
  if (!found) return "";
  std::string names;
  for (const Slice* victim : found->slices) names += victim->key.name + " ";
  return names + "in " + found->domain;
}

TEST(CheapestVictims, HaveTheLowestPriority) {
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(3),
                     pods_of({a_slice("a").priority(3).runs_in("pool-a"), a_slice("b").priority(2).runs_in("pool-b"),
                              a_slice("c").priority(4).runs_in("pool-c")})),
            "b in pool-b");
}

TEST(CheapestVictims, HaveTheFewestHostsAmongThoseOfOnePriority) {
  EXPECT_EQ(cheapest(a_row_slice("high").priority(9), numbered_rows(2, 2),
                     pods_of({a_slice("a").runs_in("pool-11", 9s), a_slice("b").runs_in("pool-12", 9s),
                              a_slice("c").runs_in("pool-21", 1s)})),
            "c in row-2");
}

TEST(CheapestVictims, WerePlacedLastAmongEqualOnes) {
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(3),
                     pods_of({a_slice("a").runs_in("pool-a", 10s), a_slice("b").runs_in("pool-b", 30s),
                              a_slice("c").runs_in("pool-c", 20s)})),
            "b in pool-b");
}

TEST(CheapestVictims, AreOrderedByNameIfAllElseIsEqual) {
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(2),
                     pods_of({a_slice("z").runs_in("pool-a"), a_slice("y").runs_in("pool-b")})),
            "z in pool-a");
}

TEST(CheapestVictims, CountWithTheHighestPriorityOfTheirDomain) {
  EXPECT_EQ(
      cheapest(a_row_slice("high").priority(9), numbered_rows(2, 2),
               pods_of({a_slice("a").priority(1).runs_in("pool-11"), a_slice("b").priority(5).runs_in("pool-12"),
                        a_slice("c").priority(4).runs_in("pool-21"), a_slice("d").priority(4).runs_in("pool-22")})),
      "c d in row-2");
}

TEST(CheapestVictims, AreOfLowerPriority) {
  for (const int priority : {9, 10}) {
    EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(1),
                       a_slice("a").priority(priority).runs_in("pool-a").pods()),
              "");
  }
  EXPECT_EQ(
      cheapest(a_slice("high").priority(-1), lettered_pools(1), a_slice("a").priority(-2).runs_in("pool-a").pods()),
      "a in pool-a");
}

TEST(CheapestVictims, MayBePodsThatAreNoPlacedSlice) {
  const PodPtr notebook = a_pod_without_slice("notebook", "pool-12-0");
  std::vector<PodPtr> pods = a_slice("a").runs_in("pool-11").pods();
  pods.push_back(notebook);
  EXPECT_EQ(cheapest(a_row_slice("high").priority(9), numbered_rows(1, 2), pods), "a notebook in row-1");
  EXPECT_EQ(cheapest(a_row_slice("high"), numbered_rows(1, 2), pods), "") << "of the same priority";
  const auto of_daemon_set = [](PodView& pod) { pod.controller = ControllerRef{"apps/v1", "DaemonSet", "d", "uid"}; };
  pods.back() = with(notebook, of_daemon_set);
  EXPECT_EQ(cheapest(a_row_slice("high").priority(9), numbered_rows(1, 2), pods), "") << "it would be created again";
}

TEST(CheapestVictims, AreOfWorkloadsThatLoseAnotherSliceAnyway) {
  const auto of = [](const std::string& job) {
    return [=](PodView& pod) { pod.controller = ControllerRef{"batch/v1", "Job", job, "uid-of-" + job}; };
  };
  const std::vector<PodPtr> pods =
      pods_of({a_slice("a").runs_in("pool-a", 30s).each(of("one")), a_slice("b").runs_in("pool-b").each(of("two"))});
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(2), pods), "a in pool-a") << "placed later";
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(2), pods, {}, {"Job default/two"}), "b in pool-b");
}

TEST(CheapestVictims, AreNotInAClaimedDomain) {
  const std::vector<PodPtr> pods =
      pods_of({a_slice("a").runs_in("pool-a"), a_slice("b").priority(1).runs_in("pool-b")});
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(2), pods, {{kGkePool, "pool-a"}}), "b in pool-b");
  EXPECT_EQ(cheapest(a_slice("high").priority(9), lettered_pools(2), pods, {{kRow, "pool-a"}}), "a in pool-a");
}

TEST(CheapestVictims, AreNotThoseThatEndAnyway) {
  EXPECT_EQ(cheapest(a_row_slice("high").priority(9), numbered_rows(1, 2),
                     pods_of({leaving(a_slice("a").runs_in("pool-11")), a_slice("b").runs_in("pool-12")})),
            "b in row-1");
}

TEST(MayPreempt, IsForbiddenByOnePodThatNeverDoes) {
  const auto never = [](PodView& pod) { pod.never_preempts = true; };
  const std::vector<Slice> slices = slices_of({a_slice("x"), a_slice("y").host(1, never)});
  EXPECT_TRUE(may_preempt(Gang{{&slices[0]}}));
  EXPECT_FALSE(may_preempt(Gang{{&slices[1]}}));
  EXPECT_FALSE(may_preempt(Gang{{&slices[0], &slices[1]}}));
}

TEST(PlacedAt, IsTheLatestOfTheReleasedPods) {
  const auto at = [](const std::string& text) {
    return [=](PodView& pod) { pod.annotations[std::string(tpu::kPlacedAt)] = text; };
  };
  EXPECT_EQ(placed_at(a_slice("x").runs_in("pool-a", 7s).slice()), after(7s));
  EXPECT_EQ(placed_at(a_slice("x").runs_in("pool-a", 7s).host(1, at("2026-01-01T00:01:00Z")).slice()), after(60s));
  EXPECT_EQ(placed_at(a_slice("x").runs_in("pool-a", 7s).host(1, at("nonsense")).slice()), after(7s));
  EXPECT_EQ(placed_at(a_slice("x").slice()), Timestamp{}) << "nothing was released";
}

// Which slices are preempted.

/// pool-a runs low (priority 0), pool-b runs middle (priority 5).
Scene full(const std::vector<Slice>& ready, std::size_t max_preemptions = 10) {
  return {.nodes = lettered_pools(2),
          .pods = pods_of({a_slice("low").runs_in("pool-a"), a_slice("middle").priority(5).runs_in("pool-b")}),
          .ready = ready,
          .max_preemptions = max_preemptions};
}

TEST(AssignPreemption, EndsTheCheapestSlice) {
  const Decisions out = decide(full(slices_of({a_slice("high").priority(9)})));
  EXPECT_THAT(out.preempted, ElementsAre("low in pool-a for high"));
  EXPECT_THAT(out.placed, IsEmpty()) << "its pods still run";
  EXPECT_THAT(out.waiting.at("high"), HasSubstr("; slices of lower priority are preempted for it"));
}

TEST(AssignPreemption, EndsNothingUnlessItMay) {
  const auto never = [](PodView& pod) { pod.never_preempts = true; };
  EXPECT_THAT(decide(full(slices_of({a_slice("high").priority(9)}), 0)).preempted, IsEmpty());
  EXPECT_THAT(decide(full(slices_of({a_slice("high").priority(9).each(never)}))).preempted, IsEmpty());
  EXPECT_THAT(decide(full(slices_of({a_slice("equal").priority(0)}))).preempted, IsEmpty());
}

TEST(AssignPreemption, EndsNothingWhereADomainIsFreeOrBecomesFree) {
  Scene scene = full(slices_of({a_slice("high").priority(9)}));
  scene.nodes = lettered_pools(3);
  EXPECT_THAT(decide(scene).placed, ElementsAre("high to pool-c"));
  EXPECT_THAT(decide(scene).preempted, IsEmpty());
  for (PodPtr& pod : leaving(a_slice("ends").priority(20).runs_in("pool-c")).pods()) scene.pods.push_back(pod);
  EXPECT_THAT(decide(scene).placed, IsEmpty());
  EXPECT_THAT(decide(scene).preempted, IsEmpty()) << "whatever its priority";
}

TEST(AssignPreemption, EndsAllThatAGangNeedsOrNone) {
  const auto gang = [](int priority) {
    return slices_of({a_slice("x").gang("g", 2).priority(priority), a_slice("y").gang("g", 2).priority(priority)});
  };
  EXPECT_THAT(decide(full(gang(9))).preempted, ElementsAre("low in pool-a for x", "middle in pool-b for y"));
  EXPECT_THAT(decide(full(gang(5))).preempted, IsEmpty()) << "middle has no lower priority";
  Scene scene = full(gang(5));
  scene.nodes = lettered_pools(3);
  EXPECT_THAT(decide(scene).preempted, ElementsAre("low in pool-a for y")) << "pool-c is free for x";
}

TEST(AssignPreemption, EndsNoMoreThanTheBudget) {
  const auto gang = slices_of({a_slice("x").gang("g", 2).priority(9), a_slice("y").gang("g", 2).priority(9)});
  EXPECT_THAT(decide(full(gang, 2)).preempted, SizeIs(2));
  const Decisions one = decide(full(gang, 1));
  EXPECT_THAT(one.preempted, IsEmpty()) << "all or none";
  EXPECT_THAT(
      one.waiting.at("x"),
      HasSubstr("; 2 slices of lower priority would be preempted for it, but the preemption budget of 1 an hour is "
                "smaller"));
}

TEST(AssignPreemption, SaysWhenTheBudgetIsRenewed) {
  Scene scene = full(slices_of({a_slice("high").priority(9), a_slice("next").priority(8)}), 1);
  const Decisions planned = decide(scene);
  EXPECT_THAT(planned.preempted, ElementsAre("low in pool-a for high"));
  EXPECT_THAT(
      planned.waiting.at("next"),
      HasSubstr("; a slice of lower priority would be preempted for it, but the preemption budget of 1 an hour is "
                "used up; next at 2026-01-01T01:02:00Z"));
  scene.preemption_record = "1 2026-01-01T00:00:30Z";
  const Decisions used_up = decide(scene);
  EXPECT_THAT(used_up.preempted, IsEmpty());
  for (const char* name : {"high", "next"}) {
    EXPECT_THAT(
        used_up.waiting.at(name),
        HasSubstr("; a slice of lower priority would be preempted for it, but the preemption budget of 1 an hour is "
                  "used up; next at 2026-01-01T01:00:30Z"));
  }
}

TEST(AssignPreemption, SaysNothingOfTheBudgetWhereNothingCouldBeEnded) {
  Scene scene = full(slices_of({a_slice("equal").priority(0)}), 1);
  scene.preemption_record = "1 2026-01-01T00:00:30Z";
  EXPECT_THAT(decide(scene).waiting.at("equal"), Not(HasSubstr("budget")));
}

TEST(AssignPreemption, LeavesTheBudgetOfAGangThatIsTooLargeToTheNext) {
  const Decisions out = decide(full(slices_of({a_slice("x").gang("g", 2).priority(9),
                                               a_slice("y").gang("g", 2).priority(9), a_slice("next").priority(8)}),
                                    1));
  EXPECT_THAT(out.preempted, SizeIs(::testing::Le(1)));
}

TEST(AssignPreemption, EndsNoSliceForTwoOthers) {
  const Decisions out = decide(
      full(slices_of({a_slice("first").priority(9), a_slice("second").priority(8), a_slice("third").priority(7)})));
  EXPECT_THAT(out.preempted, ElementsAre("low in pool-a for first", "middle in pool-b for second"));
}

TEST(AssignPreemption, EndsNoSliceForTwoOthersWithDifferentTopologyKeys) {
  // Row row-1 and node pool pool-11 are the same nodes.
  const Decisions out =
      decide({.nodes = numbered_rows(2, 1),
              .pods = pods_of({a_slice("low").runs_in("pool-11"), a_slice("middle").priority(5).runs_in("pool-21")}),
              .ready = slices_of({a_slice("first").priority(9), a_row_slice("second", 2).priority(8),
                                  a_row_slice("third", 2).priority(7)}),
              .max_preemptions = 10});
  EXPECT_THAT(out.preempted, ElementsAre("low in pool-11 for first", "middle in row-2 for second"));
}

TEST(AssignPreemption, EndsNoSliceForAGangThatDoesNotFit) {
  // The large slice needs all of row-1, and the small one a half of it.
  const Decisions out =
      decide({.nodes = numbered_rows(1, 2),
              .pods = a_slice("low").runs_in("pool-12").pods(),
              .ready = slices_of({a_row_slice("x").gang("g", 2).priority(9), a_slice("y").gang("g", 2).priority(9)}),
              .max_preemptions = 10});
  EXPECT_THAT(out.preempted, IsEmpty()) << "both slices of the gang would need pool-11";
}

TEST(AssignPreemption, EndsNoSliceForADomainThatIsReservedForAHigherPriority) {
  const auto never = [](PodView& pod) { pod.never_preempts = true; };
  // The first gang reserves pool-11 and waits for pool-12; the large slice would need both.
  const Decisions out =
      decide({.nodes = numbered_rows(1, 2),
              .pods = a_slice("low").runs_in("pool-12").pods(),
              .ready = slices_of({a_slice("x").gang("g", 2).priority(9).each(never),
                                  a_slice("y").gang("g", 2).priority(9).each(never), a_row_slice("large").priority(8)}),
              .max_preemptions = 10});
  EXPECT_THAT(out.preempted, IsEmpty());
}

TEST(AssignPreemption, KeepsTheFreeDomainOfTheGangFromBackfill) {
  // Both run for an hour at most, but low is preempted now, so the gang needs pool-a soon.
  const Decisions out =
      decide({.nodes = lettered_pools(3),
              .pods = pods_of({a_slice("low").deadline(1h).runs_in("pool-b"),
                               a_slice("other").priority(20).deadline(1h).runs_in("pool-c")}),
              .ready = slices_of({a_slice("x").gang("g", 2).priority(9), a_slice("y").gang("g", 2).priority(9),
                                  a_slice("young").created(10s).deadline(10min)}),
              .max_preemptions = 10});
  EXPECT_THAT(out.preempted, ElementsAre("low in pool-b for y"));
  EXPECT_THAT(out.placed, IsEmpty()) << "young would hold up the gang for which low is preempted";
}

/// A gang of priority 9 for which slices in pool-a and pool-b were preempted: pool-a is free already. A younger slice
/// of a lower priority.
Scene one_victim_has_ended(Duration now, Duration deletion) {
  const auto deleted = [&](PodView& pod) { pod.deletion = after(deletion); };
  return {.nodes = lettered_pools(2),
          .pods = a_slice("victim").runs_in("pool-b").each(deleted).pods(),
          .ready = slices_of({a_slice("x").gang("g", 2).priority(9), a_slice("y").gang("g", 2).priority(9),
                              a_slice("young").created(50s)}),
          .now = now,
          .max_preemptions = 8};
}

TEST(PreemptedDomain, IsNotGivenToALowerPriority) {
  EXPECT_THAT(decide(one_victim_has_ended(1min, 1min)).placed, IsEmpty());
}

TEST(PreemptedDomain, IsNotGivenToALowerPriorityInTheSecondHalfOfTheReservation) {
  EXPECT_THAT(decide(one_victim_has_ended(45min, 45min)).placed, IsEmpty())
      << "slices were preempted for the gang, so another takes their place";
}

TEST(PreemptedDomain, IsNotWaitedForOnceItsPodsShouldHaveBeenGoneForMinutes) {
  EXPECT_THAT(decide(one_victim_has_ended(45min, 40min + 1ms)).placed, IsEmpty());
  EXPECT_THAT(decide(one_victim_has_ended(45min, 40min)).placed, ElementsAre("young to pool-a"));
}

TEST(PreemptedDomain, IsNotGivenToALowerPriorityBeyondTheShare) {
  Scene scene = one_victim_has_ended(1min, 1min);
  scene.reservation.percent = 25;
  scene.nodes = nodes_of(
      {a_pool("pool-a"), a_pool("pool-b"), a_pool("pool-c").label("kind", "2"), a_pool("pool-d").label("kind", "2")});
  for (PodPtr& pod : a_slice("old").priority(10).runs_in("pool-d").pods()) scene.pods.push_back(pod);
  for (const char* name : {"u", "v"}) {
    scene.ready.push_back(a_slice(name).in("team").gang("h", 2).priority(10).selects("kind", "2").slice());
  }
  EXPECT_THAT(decide(scene).placed, IsEmpty()) << "the first gang of the queue has used the share up";
}

}  // namespace
}  // namespace tpuslice::placement
