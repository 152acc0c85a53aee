#include "controllers/placement/assignment.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

struct Outcome {
  std::vector<std::string> placed;             ///< "train to pool-a", in order.
  std::map<std::string, std::string> waiting;  ///< Reasons, by name.
};

/// Nodes, and pods on them.
struct Cluster {
  std::vector<NodePtr> nodes;
  std::vector<PodPtr> pods;
  DomainFailures domain_failures;
  GangCounts placed_gangs;

  [[nodiscard]] Outcome assigns(const std::vector<Slice>& ready) const {
    SceneInventory inventory(nodes, pods);
    const PlacedSlices placed{{}, placed_gangs};
    const PlacementRequest request{pointers_to(ready), &placed, domain_failures};
    const Assignment assignment = assign(request, inventory);
    Outcome out;
    for (const Placement& placement : assignment.placements) {
      out.placed.push_back(fmt::format("{} to {}", placement.slice->key.name, placement.domain));
    }
    for (const WaitingSlice& each : assignment.waiting) out.waiting[each.slice->key.name] = each.reason.text;
    EXPECT_EQ(out.placed.size() + assignment.waiting.size(), ready.size()) << "each slice gets one answer";
    return out;
  }
  [[nodiscard]] Outcome assigns(std::initializer_list<SliceBuilder> ready) const { return assigns(slices_of(ready)); }
};

TEST(Assign, GivesEachSliceADomainOfItsOwn) {
  const Outcome out = Cluster{lettered_pools(3)}.assigns({a_slice("x"), a_slice("y"), a_slice("z")});
  EXPECT_THAT(out.placed, ElementsAre("x to pool-a", "y to pool-b", "z to pool-c"));
  EXPECT_THAT(out.waiting, IsEmpty());
}

TEST(Assign, PlacesTheOldestFirst) {
  const Outcome out = Cluster{lettered_pools(2)}.assigns(
      {a_slice("x").created(9s), a_slice("y").created(3s), a_slice("z").created(6s)});
  EXPECT_THAT(out.placed, ElementsAre("y to pool-a", "z to pool-b"));
  EXPECT_THAT(out.waiting, ElementsAre(Pair("x",
                                            "2 node pools match, none is free: pool-a runs default/job (y); "
                                            "pool-b runs default/job (z)")));
}

TEST(Assign, CountsTheAgeOfASliceFromItsFirstPod) {
  const auto late = [](PodView& pod) { pod.created = after(1h); };
  const Outcome out =
      Cluster{lettered_pools(1)}.assigns({a_slice("x").created(5s), a_slice("y").created(2s).host(1, late)});
  EXPECT_THAT(out.placed, ElementsAre("y to pool-a"));
}

TEST(Assign, PlacesHigherPrioritiesBeforeOlderSlices) {
  const Outcome out = Cluster{lettered_pools(1)}.assigns(
      {a_slice("x").created(1s), a_slice("y").created(9s).priority(2'000'000'000), a_slice("z").priority(-5)});
  EXPECT_THAT(out.placed, ElementsAre("y to pool-a"));
}

TEST(Assign, OrdersSlicesOfOneAgeByName) {
  std::vector<Slice> ready = slices_of({a_slice("x").in("zoo"), a_slice("b"), a_slice("a")});
  for (int turn = 0; turn < 3; ++turn) {
    std::ranges::rotate(ready, ready.begin() + 1);
    EXPECT_THAT((Cluster{lettered_pools(3)}.assigns(ready).placed),
                ElementsAre("a to pool-a", "b to pool-b", "x to pool-c"));
  }
}

TEST(Assign, AssignsOnlyDomainsThatThePodsSelect) {
  Cluster cluster{nodes_of({a_pool("pool-a"), a_pool("pool-b").label("zone", "z1")})};
  const Outcome out = cluster.assigns({a_slice("x").selects("zone", "z1"), a_slice("y").selects("zone", "z9")});
  EXPECT_THAT(out.placed, ElementsAre("x to pool-b"));
  EXPECT_THAT(out.waiting, ElementsAre(Pair("y", "no node pool matches the pods' node selector and affinity")));
}

TEST(Assign, SaysWhichTopologiesThereAre) {
  const auto topology = [](const char* name) {
    return [=](NodeView& node) { node.labels[std::string(tpu::kTopologyLabel)] = std::string(name); };
  };
  const auto wants = [](const char* name) { return a_slice(name).selects(tpu::kTopologyLabel, name); };
  Cluster cluster{nodes_of({a_pool("pool-a").each(topology("4x8")), a_pool("pool-b").each(topology("2x4")),
                            a_pool("pool-c").each(topology("2x4"))})};
  EXPECT_THAT(
      cluster.assigns({wants("4x4")}).waiting,
      ElementsAre(Pair("4x4", "no node pool of tpu-v6e-slice 4x4; the cluster has 2x4 (2 pools), 4x8 (1 pool)")));
  EXPECT_THAT(cluster.assigns({wants("4x8").selects("zone", "z9")}).waiting,
              ElementsAre(Pair("4x8",
                               "no node pool matches the pods' node selector and affinity, although 1 node pool of "
                               "tpu-v6e-slice 4x8 exists")));
  EXPECT_THAT(
      Cluster{}.assigns({wants("4x4")}).waiting,
      ElementsAre(Pair("4x4", "no node pool of tpu-v6e-slice 4x4; the cluster has no node pool of tpu-v6e-slice")));
}

TEST(Assign, SkipsOccupiedAndUnusableDomains) {
  const Cluster cluster{nodes_of({a_pool("pool-a").node(1, cordoned), a_pool("pool-b"), a_pool("pool-c")}),
                        pods_of({a_slice("old").placed_in("pool-b")})};
  EXPECT_THAT(cluster.assigns({a_slice("x")}).placed, ElementsAre("x to pool-c"));
}

TEST(Assign, PrefersDomainsWithFewerFailures) {
  Cluster cluster{lettered_pools(3)};
  cluster.domain_failures = {{{kGkePool, "pool-a"}, 3}, {{kGkePool, "pool-b"}, 2}, {{kRow, "pool-c"}, 9}};
  EXPECT_THAT(cluster.assigns({a_slice("x"), a_slice("y"), a_slice("z")}).placed,
              ElementsAre("x to pool-c", "y to pool-b", "z to pool-a"));
}

// Gangs.

TEST(AssignGang, PlacesAllSlicesTogether) {
  const Outcome out = Cluster{lettered_pools(2)}.assigns({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)});
  EXPECT_THAT(out.placed, ElementsAre("x to pool-a", "y to pool-b"));
}

TEST(AssignGang, PlacesNoSliceIfOneHasNoDomain) {
  const Cluster cluster{lettered_pools(2), {a_pod_without_slice("notebook", "pool-b-0")}};
  const Outcome out = cluster.assigns({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)});
  EXPECT_THAT(out.placed, IsEmpty());
  EXPECT_THAT(out.waiting, SizeIs(2));
}

TEST(AssignGang, PlacesNoSliceIfSlicesWithDifferentRequirementsDoNotAllFit) {
  const Cluster cluster{numbered_rows(1, 2), {a_pod_without_slice("notebook", "pool-12-0")}};
  const Outcome out = cluster.assigns({a_row_slice("x", 4).gang("g", 2), a_slice("y").gang("g", 2)});
  EXPECT_THAT(out.placed, IsEmpty());
}

TEST(AssignGang, HasTheAgeOfItsOldestAndThePriorityOfItsHighestSlice) {
  const Outcome old = Cluster{lettered_pools(2)}.assigns(
      {a_slice("lone").created(5s), a_slice("x").gang("g", 2).created(9s), a_slice("y").gang("g", 2).created(1s)});
  EXPECT_THAT(old.placed, ElementsAre("x to pool-a", "y to pool-b"));
  const Outcome high =
      Cluster{lettered_pools(2)}.assigns({a_slice("lone").priority(3), a_slice("x").gang("g", 2).created(9s),
                                          a_slice("y").gang("g", 2).created(9s).priority(4)});
  EXPECT_THAT(high.placed, ElementsAre("x to pool-a", "y to pool-b"));
}

TEST(AssignGang, WaitsForAllItsSlicesAndReservesNothing) {
  const Outcome out = Cluster{lettered_pools(3)}.assigns(
      {a_slice("x").gang("g", 3), a_slice("y").gang("g", 3), a_slice("lone").created(1h)});
  EXPECT_THAT(out.placed, ElementsAre("lone to pool-a"));
  EXPECT_THAT(out.waiting, ElementsAre(Pair("x", "2 of the 3 slices that start together have all their pods"),
                                       Pair("y", "2 of the 3 slices that start together have all their pods")));
}

TEST(AssignGang, PlacesALostSliceAgain) {
  Cluster cluster{lettered_pools(2)};
  cluster.placed_gangs = {{{"default", "g"}, 1}};
  EXPECT_THAT(cluster.assigns({a_slice("x").gang("g", 2)}).placed, ElementsAre("x to pool-a"));
  const Outcome out = cluster.assigns({a_slice("x").gang("g", 3)});
  EXPECT_THAT(out.waiting, ElementsAre(Pair("x", "2 of the 3 slices that start together have all their pods")));
  EXPECT_THAT(cluster.assigns({a_slice("x").gang("other", 2)}).placed, IsEmpty());
  EXPECT_THAT(cluster.assigns({a_slice("x").in("team").gang("g", 2)}).placed, IsEmpty());
}

TEST(AssignGang, PlacesAllLostSlicesOrNone) {
  Cluster cluster{lettered_pools(1)};
  cluster.placed_gangs = {{{"default", "g"}, 1}};
  EXPECT_THAT(cluster.assigns({a_slice("x").gang("g", 3), a_slice("y").gang("g", 3)}).placed, IsEmpty());
}

TEST(AssignGang, IsPlacedInOneBlockOfTheNetwork) {
  const auto in_block = [](const char* pool, const char* block) { return a_pool(pool).label(tpu::kBlockLabel, block); };
  const Cluster cluster{nodes_of({in_block("pool-a", "x"), in_block("pool-b", "y"), in_block("pool-c", "y")})};
  EXPECT_THAT(cluster.assigns({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)}).placed,
              ElementsAre("x to pool-b", "y to pool-c"));
  EXPECT_THAT(cluster.assigns({a_slice("x"), a_slice("y")}).placed, ElementsAre("x to pool-a", "y to pool-b"));
}

TEST(AssignGang, IsOfOneNamespace) {
  const Outcome out =
      Cluster{lettered_pools(2)}.assigns({a_slice("x").gang("g", 2), a_slice("y").in("team").gang("g", 2)});
  EXPECT_THAT(out.placed, IsEmpty());
}

TEST(AssignGang, ReservesAFreeDomainUntilTheOtherIsFree) {
  const Cluster cluster{lettered_pools(2), pods_of({a_slice("old").runs_in("pool-b")})};
  const Outcome out =
      cluster.assigns({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2), a_slice("lone").created(1h)});
  EXPECT_THAT(out.placed, IsEmpty());
  EXPECT_EQ(out.waiting.at("lone"),
            "2 node pools match, none is free: pool-a is reserved for default/job (x); pool-b runs default/job (old); "
            "2 slices are ahead of it in the queue: default/job (x), default/job (y)");
}

TEST(AssignGang, ReservesNothingIfItDoesNotFitIntoAnEmptyCluster) {
  const Cluster cluster{lettered_pools(2), pods_of({a_slice("old").runs_in("pool-b")})};
  const Outcome out = cluster.assigns(
      {a_slice("x").gang("g", 3), a_slice("y").gang("g", 3), a_slice("z").gang("g", 3), a_slice("lone").created(1h)});
  EXPECT_THAT(out.placed, ElementsAre("lone to pool-a"));
}

// What is kept.

TEST(AssignLarge, IsNotStarvedByYoungerSmallSlices) {
  const Cluster cluster{numbered_rows(1, 2), pods_of({a_slice("old").runs_in("pool-12")})};
  const Outcome out = cluster.assigns({a_row_slice("large", 4), a_slice("small").created(1s)});
  EXPECT_THAT(out.placed, IsEmpty());
  EXPECT_EQ(out.waiting.at("large"), "1 value of example.com/row matches, none is free: row-1 runs default/job (old)");
  EXPECT_EQ(out.waiting.at("small"),
            "2 node pools match, none is free: pool-11 is reserved for default/job (large); pool-12 runs default/job "
            "(old)");
}

TEST(AssignLarge, WaitsForOlderSmallSlices) {
  const Outcome out = Cluster{numbered_rows(1, 2)}.assigns({a_row_slice("large", 4).created(1s), a_slice("small")});
  EXPECT_THAT(out.placed, ElementsAre("small to pool-11"));
}

TEST(AssignLarge, ReservesTheDomainWithTheMostFreeNodes) {
  // Of row-1 one pool is free, of row-2 two are.
  const Cluster cluster{numbered_rows(2, 3), pods_of({a_slice("a").runs_in("pool-11"), a_slice("b").runs_in("pool-12"),
                                                      a_slice("c").runs_in("pool-23")})};
  const Outcome out = cluster.assigns({a_row_slice("large", 6), a_slice("small").created(1s)});
  EXPECT_THAT(out.placed, ElementsAre("small to pool-13"));
  const Outcome more =
      cluster.assigns({a_row_slice("large", 6), a_slice("small").created(1s), a_slice("smaller").created(2s)});
  EXPECT_THAT(more.placed, ElementsAre("small to pool-13"));
  EXPECT_THAT(more.waiting, SizeIs(2));
}

TEST(AssignLarge, ReservesNothingThatIsTooSmall) {
  const Outcome out = Cluster{numbered_rows(1, 2)}.assigns({a_row_slice("huge", 8), a_slice("small").created(1s)});
  EXPECT_THAT(out.placed, ElementsAre("small to pool-11"));
  EXPECT_EQ(out.waiting.at("huge"), "1 value of example.com/row matches, none is free: row-1 has 4 of 8 nodes Ready");
}

TEST(AssignLarge, ReservesNoUnusableDomain) {
  const Cluster cluster{
      nodes_of({a_pool("pool-a").label(kRow, "row-1").node(0, not_ready), a_pool("pool-b").label(kRow, "row-1")})};
  const Outcome out = cluster.assigns({a_row_slice("large", 4), a_slice("small").created(1s)});
  EXPECT_THAT(out.placed, ElementsAre("small to pool-b"));
}

// Waiting reasons.

TEST(WaitingReasons, NameTheObstaclesOfTheFirstSixDomains) {
  const std::vector<PodPtr> pods = {a_pod_without_slice("notebook", "pool-b-0")};
  std::vector<NodePtr> nodes = nodes_of({a_pool("pool-a").node(0, cordoned), a_pool("pool-b"),
                                         a_pool("pool-c").without(1), a_pool("pool-d").node(1, without_chips),
                                         a_pool("pool-e").size(3), a_pool("pool-f").node(0, not_ready)});
  constexpr const char* kSix =
      "pool-a: node pool-a-0 is cordoned; pool-b runs default/notebook; pool-c has 1 of 2 nodes Ready; "
      "pool-d: node pool-d-1 advertises no TPU chips; pool-e has 3 nodes, the slice needs exactly 2; "
      "pool-f has 1 of 2 nodes Ready";
  EXPECT_EQ((Cluster{nodes, pods}.assigns({a_slice("x")}).waiting["x"]),
            std::string("6 node pools match, none is free: ") + kSix);
  for (const char* more : {"pool-g", "pool-h"}) {
    for (NodePtr& node : a_pool(more).size(1).nodes()) nodes.push_back(node);
  }
  EXPECT_EQ((Cluster{nodes, pods}.assigns({a_slice("x")}).waiting["x"]),
            std::string("8 node pools match, none is free: ") + kSix + "; and 2 more");
}

TEST(WaitingReasons, OmitDomainsThatDoNotMatch) {
  const Cluster cluster{nodes_of({a_pool("pool-a"), a_pool("pool-b").label("zone", "z1").without(0)})};
  EXPECT_EQ(cluster.assigns({a_slice("x").selects("zone", "z1")}).waiting["x"],
            "1 node pool matches, none is free: pool-b has 1 of 2 nodes Ready");
}

TEST(WaitingReasons, ListDomainsForTheFirstTwentyGangs) {
  std::vector<Slice> ready;
  for (int i = 1; i <= 22; ++i) {
    ready.push_back(a_slice(fmt::format("s-{:02}", i)).created(std::chrono::seconds(i)).slice());
  }
  Outcome out = Cluster{lettered_pools(1), {a_pod_without_slice("notebook", "pool-a-0")}}.assigns(ready);
  constexpr const char* kLater = "at least 20 slices are ahead of it in the queue";
  EXPECT_EQ(out.waiting["s-01"], "1 node pool matches, none is free: pool-a runs default/notebook");
  EXPECT_EQ(out.waiting["s-20"],
            "1 node pool matches, none is free: pool-a runs default/notebook; 19 slices are ahead of it in the queue: "
            "default/job (s-01), default/job (s-02), default/job (s-03), ...");
  EXPECT_EQ(out.waiting["s-21"], kLater);
  EXPECT_EQ(out.waiting["s-22"], kLater);
}

TEST(Assignment, ComparesALimitedNumberOfRequirementsOfANamespace) {
  std::vector<PodPtr> pods;
  for (int i = 0; i < 40; ++i) {
    const auto slice = a_slice(fmt::format("odd-{:02}", i)).in("greedy").selects("never", std::to_string(i));
    for (const PodPtr& pod : slice.pods()) pods.push_back(pod);
  }
  for (const PodPtr& pod : a_slice("train").created(10s).pods()) pods.push_back(pod);
  const Outcome outcome = Cluster{.nodes = lettered_pools(1)}.assigns(read_slices(pods));
  EXPECT_THAT(outcome.placed, ElementsAre("train to pool-a"));
  EXPECT_EQ(outcome.waiting.at("odd-31"), "at least 20 slices are ahead of it in the queue");
  EXPECT_EQ(outcome.waiting.at("odd-32"),
            "32 other node requirements of namespace greedy are compared with the nodes first");
}

TEST(WaitingReason, DoesNotNameWorkloadsOfOtherNamespaces) {
  const Cluster cluster{.nodes = lettered_pools(1), .pods = a_slice("secret").in("other").runs_in("pool-a").pods()};
  EXPECT_EQ(cluster.assigns({a_slice("train")}).waiting.at("train"),
            "1 node pool matches, none is free: pool-a runs a workload of another namespace");
  EXPECT_EQ(cluster.assigns({a_slice("train").in("other")}).waiting.at("train"),
            "1 node pool matches, none is free: pool-a runs other/job (secret)");
}

}  // namespace
}  // namespace tpuslice::placement
