// Domains that are reserved for gangs: ReservationLimits, backfill, and what younger slices get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/decisions.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Two slices that start together, named <name>-1 and <name>-2.
std::vector<Slice> a_gang_of_two(const std::string& name, const std::function<void(SliceBuilder&)>& change = {}) {
  std::vector<Slice> out;
  for (const char* number : {"-1", "-2"}) {
    SliceBuilder slice = a_slice(name + number).gang(name, 2);
    if (change) change(slice);
    out.push_back(slice.slice());
  }
  return out;
}

std::vector<Slice> all_of(std::initializer_list<std::vector<Slice>> parts) {
  std::vector<Slice> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

/// A gang of two, created at second 0, that lacks one domain: pool-a is free, pool-b is in use.
Scene one_of_two_is_free(Duration now, const std::vector<Slice>& younger = slices_of({a_slice("young").created(10s)})) {
  return {.nodes = lettered_pools(2),
          .pods = a_slice("old").runs_in("pool-b").pods(),
          .ready = all_of({a_gang_of_two("g"), younger}),
          .now = now};
}

// Windows.

TEST(ReservationWindow, ReservesInTheFirstHalfAndYieldsInTheSecond) {
  for (const Duration now : {Duration(0s), Duration(1s), Duration(30min - 1s), Duration(1h), Duration(90min - 1s)}) {
    EXPECT_THAT(decide(one_of_two_is_free(now)).placed, IsEmpty()) << now.count();
  }
  for (const Duration now : {Duration(30min), Duration(1h - 1s), Duration(90min), Duration(2h - 1s)}) {
    EXPECT_THAT(decide(one_of_two_is_free(now)).placed, ElementsAre("young to pool-a")) << now.count();
  }
}

TEST(ReservationWindow, IsExplainedAndEndsWithoutAnEvent) {
  const Decisions first = decide(one_of_two_is_free(10min));
  EXPECT_EQ(first.changes_at, Duration(30min));
  EXPECT_THAT(first.waiting.at("g-1"), HasSubstr("; 1 reserved for it until 2026-01-01T00:30:00Z"));
  EXPECT_THAT(first.waiting.at("young"), HasSubstr("pool-a is reserved for default/job (g-1)"));
  const Decisions second = decide(one_of_two_is_free(40min));
  EXPECT_EQ(second.changes_at, Duration(1h));
  EXPECT_THAT(
      second.waiting.at("g-2"),
      HasSubstr("; until 2026-01-01T01:00:00Z younger slices may use those that are free, as some were reserved "
                "for 30 minutes"));
}

TEST(ReservationWindow, IsThatOfTheOptions) {
  Scene scene = one_of_two_is_free(5min);
  scene.reservation.timeout = 5min;
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
  scene.reservation.timeout = 5min + 1s;
  EXPECT_THAT(decide(scene).placed, IsEmpty());
  for (const Duration off : {Duration(0s), Duration(-1s)}) {
    scene.reservation.timeout = off;
    EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
    EXPECT_EQ(decide(scene).changes_at, std::nullopt);
  }
}

TEST(ReservationWindow, IsTheFirstForAGangOfTheFuture) {
  Scene scene = one_of_two_is_free(0s, {});
  scene.ready = all_of({a_gang_of_two("g", [](SliceBuilder& slice) { slice.created(20s); }),
                        slices_of({a_slice("young").created(30s)})});
  EXPECT_THAT(decide(scene).placed, IsEmpty()) << "clocks differ";
}

TEST(ReservationWindow, EndsForALargeSliceThatReservesAPartOfADomain) {
  const auto scene = [](Duration now) {
    return Scene{.nodes = numbered_rows(1, 2),
                 .pods = a_slice("old").runs_in("pool-12").pods(),
                 .ready = slices_of({a_row_slice("large"), a_slice("small").created(1s)}),
                 .now = now};
  };
  EXPECT_THAT(decide(scene(1min)).placed, IsEmpty());
  EXPECT_EQ(decide(scene(1min)).changes_at, Duration(30min)) << "then the small slice gets pool-11";
  EXPECT_THAT(decide(scene(30min)).placed, ElementsAre("small to pool-11"));
}

// Who may reserve.

TEST(Reservation, IsNotForAGangThatDoesNotFitIntoTheCluster) {
  Scene scene = one_of_two_is_free(1min);
  scene.nodes = nodes_of({a_pool("pool-a"), a_pool("pool-b").node(0, not_ready)});
  scene.pods = {};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
  scene.scouts = {a_scout("g-2")};
  EXPECT_THAT(decide(scene).placed, IsEmpty()) << "nodes are asked for";
  scene.scouts = {a_scout("other")};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
  scene.scouts = {a_scout("g-2", [](PodView& scout) { scout.created = start_of_time() - 14min; })};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a")) << "the autoscaler does not bring them";
}

/// Two gangs that each lack a domain of their own kind: pools a and b, pools c and d. A slice that takes any.
Scene two_gangs(const std::string& second_namespace, std::int64_t percent) {
  const auto of_kind = [](const char* name, const char* kind) { return a_pool(name).label("kind", kind); };
  return {
      .nodes =
          nodes_of({of_kind("pool-a", "1"), of_kind("pool-b", "1"), of_kind("pool-c", "2"), of_kind("pool-d", "2")}),
      .pods = pods_of({a_slice("old").runs_in("pool-b"), a_slice("older").runs_in("pool-d")}),
      .ready =
          all_of({a_gang_of_two("g", [](SliceBuilder& slice) { slice.selects("kind", "1"); }),
                  a_gang_of_two(
                      "h", [&](SliceBuilder& slice) { slice.in(second_namespace).created(1s).selects("kind", "2"); }),
                  slices_of({a_slice("young").created(10s)})}),
      .reservation = {.percent = percent}};
}

TEST(Reservation, IsLimitedToAShareForAllGangsButTheFirst) {
  EXPECT_THAT(decide(two_gangs("team", 50)).placed, IsEmpty()) << "4 of 8 nodes";
  EXPECT_THAT(decide(two_gangs("team", 49)).placed, ElementsAre("young to pool-c"));
  EXPECT_THAT(decide(two_gangs("team", 0)).placed, ElementsAre("young to pool-c")) << "the first has no limit";
  EXPECT_THAT(decide(two_gangs("team", 100)).placed, IsEmpty());
}

TEST(Reservation, IsNotExplainedToAGangThatHasNone) {
  EXPECT_THAT(decide(two_gangs("team", 49)).waiting.at("h-1"), Not(HasSubstr("reserved for it")));
  EXPECT_THAT(decide(two_gangs("team", 50)).waiting.at("h-1"), HasSubstr("; 1 reserved for it until"));
}

TEST(Reservation, IsForOneGangOfANamespace) {
  EXPECT_THAT(decide(two_gangs("default", 100)).placed, ElementsAre("young to pool-c"));
}

TEST(Reservation, IsForTheNextGangIfTheFirstHasNothingToReserve) {
  Scene scene = two_gangs("default", 100);
  for (PodPtr& pod : a_slice("oldest").runs_in("pool-a").pods()) scene.pods.push_back(pod);
  EXPECT_THAT(decide(scene).placed, IsEmpty());
  EXPECT_THAT(decide(scene).waiting.at("h-1"), HasSubstr("; 1 reserved for it until"));
}

// Backfill.

/// pool-b is free at minute 62 at the latest: its slice was placed at second 0 and has a deadline of an hour.
Scene free_at_minute_62(SliceBuilder young) {
  Scene scene = one_of_two_is_free(1min, slices_of({young.created(10s)}));
  scene.pods = a_slice("old").deadline(1h).runs_in("pool-b").pods();
  scene.reservation.timeout = 2h;
  return scene;
}

TEST(Backfill, IsForSlicesThatEndBeforeTheGangCouldStart) {
  EXPECT_THAT(decide(free_at_minute_62(a_slice("young").deadline(59min))).placed, ElementsAre("young to pool-a"));
  EXPECT_THAT(decide(free_at_minute_62(a_slice("young").deadline(59min + 1s))).placed, IsEmpty());
  EXPECT_THAT(decide(free_at_minute_62(a_slice("young"))).placed, IsEmpty());
  const auto unbounded = [](PodView& pod) { pod.active_deadline_seconds.reset(); };
  EXPECT_THAT(decide(free_at_minute_62(a_slice("young").deadline(1min).host(1, unbounded))).placed, IsEmpty());
}

TEST(Backfill, NeedsAKnownEndOfWhatTheGangWaitsFor) {
  Scene scene = free_at_minute_62(a_slice("young").deadline(1min));
  scene.pods = a_slice("old").runs_in("pool-b").pods();
  EXPECT_THAT(decide(scene).placed, IsEmpty());
  scene.pods = {a_pod_without_slice("notebook", "pool-b-0")};
  EXPECT_THAT(decide(scene).placed, IsEmpty());
}

TEST(Backfill, IsNotForADomainWhoseSliceIsOverdue) {
  Scene scene = free_at_minute_62(a_slice("young").deadline(1min));
  scene.now = 63min;
  EXPECT_THAT(decide(scene).placed, IsEmpty()) << "it may end at any time";
}

TEST(Backfill, EndsBeforeTheReservationDoes) {
  Scene scene = free_at_minute_62(a_slice("young").deadline(27min));
  scene.reservation.timeout = 30min;
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
  scene = free_at_minute_62(a_slice("young").deadline(27min + 1s));
  scene.reservation.timeout = 30min;
  EXPECT_THAT(decide(scene).placed, IsEmpty());
}

TEST(Backfill, GivesADomainToOneSlice) {
  Scene scene = free_at_minute_62(a_slice("young").deadline(1min));
  scene.ready.push_back(a_slice("younger").created(20s).deadline(1min).slice());
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
}

TEST(Backfill, NeedsMatchingNodes) {
  EXPECT_THAT(decide(free_at_minute_62(a_slice("young").deadline(1min).selects("zone", "z1"))).placed, IsEmpty());
  EXPECT_THAT(decide(free_at_minute_62(a_slice("young").deadline(1min).hosts(1))).placed, IsEmpty());
}

TEST(Backfill, ThatIsUndoneLeavesTheDomainReserved) {
  Scene scene = free_at_minute_62(a_slice("young"));
  for (const Slice& slice :
       a_gang_of_two("short", [](SliceBuilder& each) { each.in("team").created(5s).deadline(1min); })) {
    scene.ready.push_back(slice);
  }
  // One of the two slices could use pool-a, the other has no domain.
  EXPECT_THAT(decide(scene).placed, IsEmpty()) << "pool-a is reserved for the older gang, and young has no deadline";
}

// What a gang that is not placed leaves.

TEST(UnplacedGang, LeavesTheBestDomainToTheNext) {
  Scene scene{.nodes = lettered_pools(3),
              .pods = a_slice("old").runs_in("pool-c").pods(),
              .ready = slices_of({a_slice("x").gang("g", 3), a_slice("y").gang("g", 3), a_slice("z").gang("g", 3),
                                  a_slice("young").created(10s)}),
              .reservation = {.timeout = 0s},
              .failures = {{{kGkePool, "pool-b"}, 3}}};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a")) << "pool-b had failures";
  scene.reservation.timeout = 30min;
  scene.now = 45min;
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
}

TEST(UnplacedGang, LeavesTheBestDomainIfItMayNotReserve) {
  Scene scene = two_gangs("default", 100);
  scene.ready = all_of({a_gang_of_two("g", [](SliceBuilder& slice) { slice.selects("kind", "1"); }),
                        slices_of({a_slice("x").gang("h", 3).selects("kind", "2").created(1s),
                                   a_slice("y").gang("h", 3).selects("kind", "2").created(1s),
                                   a_slice("z").gang("h", 3).selects("kind", "2").created(1s),
                                   a_slice("young").selects("kind", "2").created(10s)})});
  for (NodePtr& node : a_pool("pool-e").label("kind", "2").nodes()) scene.nodes.push_back(node);
  scene.failures = {{{kGkePool, "pool-e"}, 3}};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-c")) << "pool-e had failures";
}

TEST(UnplacedGang, LeavesADomainToSlicesLikeItsSecond) {
  const auto tolerant = [](PodView& pod) {
    pod.scheduling.edit().tolerations.push_back({.key = "spot", .exists = true});
  };
  const Decisions out = decide({.nodes = lettered_pools(1),
                                .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2).each(tolerant),
                                                    a_slice("young").created(10s).each(tolerant)}),
                                .reservation = {.timeout = 0s}});
  EXPECT_THAT(out.placed, ElementsAre("young to pool-a"));
}

TEST(UnplacedGang, LeavesThePartsOfALargeDomain) {
  const Decisions out = decide({.nodes = numbered_rows(1, 2),
                                .ready = slices_of({a_row_slice("x").gang("g", 2), a_slice("y").gang("g", 2),
                                                    a_slice("young").created(10s), a_slice("younger").created(20s)}),
                                .reservation = {.timeout = 0s}});
  EXPECT_THAT(out.placed, ElementsAre("young to pool-11", "younger to pool-12"));
}

TEST(AssignTwice, GivesTheSameAnswer) {
  for (const Scene& scene : {one_of_two_is_free(1min), two_gangs("team", 49), two_gangs("default", 50),
                             free_at_minute_62(a_slice("young").deadline(1min))}) {
    const Decisions first = decide(scene);
    const Decisions second = decide(scene);
    EXPECT_EQ(first.placed, second.placed);
    EXPECT_EQ(first.waiting, second.waiting);
    EXPECT_EQ(first.lacking, second.lacking);
    EXPECT_EQ(first.changes_at, second.changes_at);
  }
}

TEST(LackOfDomains, IsOfAsManySlicesOfAGangAsThereAreTooFew) {
  const std::vector<Slice> ready =
      slices_of({a_slice("w").gang("g", 3), a_slice("x").gang("g", 3), a_slice("y").gang("g", 3)});
  EXPECT_THAT(decide({.nodes = lettered_pools(1), .ready = ready}).lacking, ElementsAre("x", "y"));
  EXPECT_THAT(decide({.nodes = lettered_pools(2), .ready = ready}).lacking, ElementsAre("y"));
  EXPECT_THAT(decide({.ready = ready}).lacking, ElementsAre("w", "x", "y"));
  EXPECT_THAT(decide({.ready = slices_of({a_slice("w").gang("g", 2)})}).lacking, IsEmpty())
      << "its second slice is not complete";
}

}  // namespace
}  // namespace tpuslice::placement
