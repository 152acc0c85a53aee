#include "controllers/slice/inventory.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Inventory inventory_of(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods = {}) {
  return {nodes, pods, read_slices(pods)};
}

/// What a new slice of four hosts is told of the pool.
Verdict verdict_on(const PoolBuilder& pool, SliceBuilder slice = a_slice("new").hosts(4)) {
  Inventory inventory = inventory_of(pool.nodes());
  return inventory.judge(wish_of(slice.slice()), "pool-a");
}

PodChange tolerating_nothing() {
  return [](PodView& pod) { pod.tolerations.clear(); };
}
NodeChange of_another_topology() {
  return [](NodeView& node) { node.labels["topology"] = "2x4"; };
}
NodeChange with_chips(int chips) {
  return [=](NodeView& node) { node.tpu_chips = chips; };
}
PoolBuilder four_nodes() { return a_pool("pool-a").size(4); }
SliceBuilder four_hosts() { return a_slice("new").hosts(4); }

struct VerdictCase {
  const char* name;
  PoolBuilder pool;
  SliceBuilder slice;
  Obstacle obstacle;
  const char* text;
};
void PrintTo(const VerdictCase& c, std::ostream* out) { *out << c.name; }
class DomainVerdict : public ::testing::TestWithParam<VerdictCase> {};

TEST_P(DomainVerdict, NamesTheObstacle) {
  const Verdict verdict = verdict_on(GetParam().pool, GetParam().slice);
  EXPECT_EQ(verdict.obstacle, GetParam().obstacle);
  EXPECT_EQ(verdict.text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, DomainVerdict,
    ::testing::Values(
        VerdictCase{"Sound", four_nodes(), four_hosts(), Obstacle::kNone, ""},
        VerdictCase{"Cordoned", four_nodes().node(1, cordoned), four_hosts(), Obstacle::kBroken,
                    "pool-a: node pool-a-1 is cordoned"},
        VerdictCase{"OneNotReady", four_nodes().node(2, not_ready), four_hosts(), Obstacle::kBroken,
                    "pool-a has 3 of 4 nodes Ready"},
        VerdictCase{"OneMissing", four_nodes().without(3), four_hosts(), Obstacle::kBroken,
                    "pool-a has 3 of 4 nodes Ready"},
        VerdictCase{"OneMissingAndOneNotReady", four_nodes().without(3).node(0, not_ready), four_hosts(),
                    Obstacle::kBroken, "pool-a has 2 of 4 nodes Ready"},
        VerdictCase{"OneBeingDeleted", four_nodes().node(0, [](NodeView& node) { node.deletion = start_of_time(); }),
                    four_hosts(), Obstacle::kBroken, "pool-a has 3 of 4 nodes Ready"},
        VerdictCase{"TooMany", four_nodes().size(5), four_hosts(), Obstacle::kBroken,
                    "pool-a has 5 nodes, the slice needs exactly 4"},
        VerdictCase{"TooManyOfWhichOneIsNotReady", four_nodes().size(5).node(4, not_ready), four_hosts(),
                    Obstacle::kBroken, "pool-a has 5 nodes, the slice needs exactly 4"},
        VerdictCase{"WithoutChips", four_nodes().node(0, without_chips), four_hosts(), Obstacle::kBroken,
                    "pool-a: node pool-a-0 advertises no TPU chips"},
        VerdictCase{"ChipsThatDoNotDivide", four_nodes().chips(6), four_hosts(), Obstacle::kBroken,
                    "pool-a: node pool-a-0 has 6 chips, a pod asks for 4"},
        VerdictCase{"TooFewChips", four_nodes().node(3, with_chips(1)), four_hosts(), Obstacle::kBroken,
                    "pool-a: node pool-a-3 has 1 chips, a pod asks for 4"},
        VerdictCase{"Tainted",
                    four_nodes().node(2,
                                      [](NodeView& node) {
                                        node.taints.push_back({"repair", "now", "NoSchedule"});
                                      }),
                    four_hosts(), Obstacle::kBroken, "pool-a: node pool-a-2 has taint repair=now:NoSchedule"},
        VerdictCase{"TaintedAndNotTolerated", four_nodes(), four_hosts().each(tolerating_nothing()), Obstacle::kBroken,
                    "pool-a: node pool-a-0 has taint google.com/tpu=present:NoSchedule"},
        VerdictCase{"NotAlike", four_nodes().label("topology", "4x4").node(3, of_another_topology()),
                    four_hosts().selects("topology", "4x4"), Obstacle::kBroken,
                    "pool-a: node pool-a-3 is not what the pods select"},
        VerdictCase{"OfAnotherTopology", four_nodes().label("topology", "2x4"), four_hosts().selects("topology", "4x4"),
                    Obstacle::kForeign, ""},
        VerdictCase{"ExcludedByAffinity", four_nodes(), four_hosts().each([](PodView& pod) {
                      pod.node_affinity =
                          R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}]}]})";
                    }),
                    Obstacle::kForeign, ""},
        VerdictCase{"PodsWithoutChips", four_nodes(), four_hosts().chips(0), Obstacle::kForeign, ""},
        VerdictCase{"TheFirstFlawIsTold", four_nodes().node(3, cordoned).node(1, without_chips), four_hosts(),
                    Obstacle::kBroken, "pool-a: node pool-a-1 advertises no TPU chips"},
        VerdictCase{"TwoPodsOnEachNode", a_pool("pool-a").size(2), four_hosts().chips(2), Obstacle::kNone, ""},
        VerdictCase{"TwoPodsOnEachNodeOfWhichOneIsMissing", a_pool("pool-a").size(1), four_hosts().chips(2),
                    Obstacle::kBroken, "pool-a has 1 of 2 nodes Ready"},
        VerdictCase{"TwoPodsOnEachNodeOfTooMany", a_pool("pool-a").size(4), four_hosts().chips(2), Obstacle::kBroken,
                    "pool-a has 4 nodes, the slice needs exactly 2"}),
    [](const auto& test) { return test.param.name; });

TEST(DomainVerdict, WantsANodeForEachPodThatChoosesOtherwise) {
  const auto wants = [](const char* role) { return [=](PodView& pod) { pod.node_selector["role"] = role; }; };
  const SliceBuilder slice = a_slice("new").hosts(2).host(0, wants("first")).host(1, wants("other"));
  const auto role = [](const char* value) { return [=](NodeView& node) { node.labels["role"] = value; }; };
  EXPECT_EQ(verdict_on(a_pool("pool-a").size(2).node(0, role("first")).node(1, role("other")), slice).obstacle,
            Obstacle::kNone);
  EXPECT_EQ(verdict_on(a_pool("pool-a").size(2).node(0, role("first")).node(1, role("first")), slice).obstacle,
            Obstacle::kForeign);
}

/// Pool-a with two nodes, seen by a new slice of two hosts.
class BusyDomain : public ::testing::Test {
 protected:
  static Verdict verdict(const std::vector<PodPtr>& pods) {
    Inventory inventory = inventory_of(a_pool("pool-a").nodes(), pods);
    return inventory.judge(wish_of(a_slice("new").slice()), "pool-a");
  }
  static std::string told(const std::vector<PodPtr>& pods) {
    const Verdict found = verdict(pods);
    EXPECT_EQ(found.obstacle, found.text.empty() ? Obstacle::kNone : Obstacle::kBusy);
    return found.text;
  }
};

TEST_F(BusyDomain, RunsASlice) {
  EXPECT_EQ(told(pods_of({a_slice("train-0").in("team").runs_in("pool-a")})), "pool-a runs team/job (train-0)");
}

TEST_F(BusyDomain, RunsAForeignPod) {
  EXPECT_EQ(told({a_foreign_pod("notebook", "pool-a-1")}), "pool-a runs default/notebook");
}

TEST_F(BusyDomain, RunsASliceOfOneHost) {
  EXPECT_EQ(told(pods_of({a_slice("lone").hosts(1).runs_in("pool-a")})), "pool-a runs default/job (lone)");
}

TEST_F(BusyDomain, RunsASliceUntilTheLastOfItsDeletedPodsIsGone) {
  EXPECT_EQ(told(pods_of({a_slice("train-0").runs_in("pool-a").leaves(0).leaves(1)})),
            "pool-a runs default/job (train-0)");
  EXPECT_EQ(told(pods_of({a_slice("train-0").runs_in("pool-a").without(0).leaves(1)})),
            "pool-a runs default/job (train-0)");
  EXPECT_EQ(told({}), "");
}

TEST_F(BusyDomain, IsFreeOfPodsThatHaveEnded) {
  EXPECT_EQ(told(pods_of({a_slice("train-0").runs_in("pool-a").succeeds(0).succeeds(1)})), "");
  EXPECT_EQ(told(pods_of({a_slice("train-0").runs_in("pool-a").fails(0).fails(1)})), "");
}

TEST_F(BusyDomain, IsNotMadeSoByPodsWithoutChipsNorByPodsElsewhere) {
  const auto on_it = [](PodView& pod) { pod.node_name = "pool-a-0"; };
  EXPECT_EQ(told(pods_of({a_slice("other").without(0).without(1).companion("driver", on_it)})), "");
  EXPECT_EQ(told({a_foreign_pod("notebook", "pool-b-0")}), "");
  EXPECT_EQ(told(pods_of({a_slice("train-0")})), "") << "it waits, like the new one";
}

TEST_F(BusyDomain, BelongsToASliceThatIsOnItsWay) {
  EXPECT_EQ(told(pods_of({a_slice("train-0").sent_to("pool-a")})), "pool-a runs default/job (train-0)");
  EXPECT_EQ(told(pods_of({a_slice("train-0").sent_to("pool-a").waits(1)})), "pool-a runs default/job (train-0)");
}

TEST_F(BusyDomain, BelongsToASliceOfWhichOnlyAPartHasNodes) {
  // The node that nobody is on yet is told as in use all the same.
  Inventory inventory =
      inventory_of(a_pool("pool-a").nodes(), pods_of({a_slice("train-0").runs_in("pool-a").homeless(1)}));
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
  Inventory crashed = inventory_of(a_pool("pool-a").nodes(), pods_of({a_slice("train-0").runs_in("pool-a").waits(1)}));
  EXPECT_EQ(crashed.free_nodes(kGkePool, "pool-a"), 0U);
}

TEST_F(BusyDomain, BelongsToASliceThatWasLetGoToNoneInParticularAndHasItsFirstNodeThere) {
  Inventory inventory = inventory_of(
      a_pool("pool-a").nodes(),
      pods_of({a_slice("train-0").sent_to("").homeless(1).host(0, [](PodView& pod) { pod.node_name = "pool-a-0"; })}));
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
}

TEST_F(BusyDomain, IsFreeWhileNobodyKnowsWhereASliceGoes) {
  EXPECT_EQ(told(pods_of({a_slice("train-0").sent_to("")})), "");
}

TEST_F(BusyDomain, IsToldAsBrokenFirst) {
  Inventory inventory =
      inventory_of(a_pool("pool-a").node(0, cordoned).nodes(), pods_of({a_slice("train-0").runs_in("pool-a")}));
  EXPECT_EQ(inventory.judge(wish_of(a_slice("new").slice()), "pool-a").text, "pool-a: node pool-a-0 is cordoned");
}

TEST(SplitHosts, UseTheirNodeTogether) {
  // Two pods of two chips on each node of four chips.
  const SliceBuilder split = a_slice("split").hosts(4).chips(2).runs_in("pool-a").homeless(2).homeless(3).host(
      1, [](PodView& pod) { pod.node_name = "pool-a-0"; });
  Inventory inventory = inventory_of(a_pool("pool-a").nodes(), split.pods());
  EXPECT_EQ(inventory.judge(wish_of(a_slice("new").hosts(4).chips(2).slice()), "pool-a").text,
            "pool-a runs default/job (split)");
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
}

TEST(Domains, AreTheValuesOfTheTopologyKeyInOrder) {
  Inventory inventory = inventory_of(
      nodes_of({a_pool("pool-b").label(kRow, "row-1"), a_pool("pool-a").label(kRow, "row-1"), a_pool("pool-c")}));
  EXPECT_THAT(inventory.domains(kGkePool), ElementsAre("pool-a", "pool-b", "pool-c"));
  EXPECT_THAT(inventory.domains(kRow), ElementsAre("row-1")) << "a node without the label is in no domain";
  EXPECT_THAT(inventory.domains("example.com/unknown"), IsEmpty());
}

TEST(Domains, ThatOverlapAreBusyTogether) {
  const std::vector<NodePtr> nodes =
      nodes_of({a_pool("pool-a").label(kRow, "row-1"), a_pool("pool-b").label(kRow, "row-1"),
                a_pool("pool-c").label(kRow, "row-2"), a_pool("pool-d").label(kRow, "row-2")});
  const Wish small = wish_of(a_slice("new").slice());
  const Wish large = wish_of(a_slice("new").hosts(4).topology_key(kRow).slice());

  Inventory one = inventory_of(nodes, pods_of({a_slice("small").sent_to("pool-b")}));
  EXPECT_EQ(one.judge(large, "row-1").text, "row-1 runs default/job (small)");
  EXPECT_EQ(one.judge(large, "row-2").obstacle, Obstacle::kNone);
  EXPECT_EQ(one.judge(small, "pool-a").obstacle, Obstacle::kNone);

  Inventory two = inventory_of(nodes, pods_of({a_slice("large").hosts(4).topology_key(kRow).sent_to("row-2")}));
  EXPECT_EQ(two.judge(small, "pool-c").text, "pool-c runs default/job (large)");
  EXPECT_EQ(two.judge(small, "pool-d").text, "pool-d runs default/job (large)");
  EXPECT_EQ(two.judge(small, "pool-a").obstacle, Obstacle::kNone);
}

TEST(Domains, AreTakenKeptAndGivenBack) {
  Inventory inventory = inventory_of(a_pool("pool-a").nodes(), {a_foreign_pod("notebook", "pool-a-1")});
  const Wish wish = wish_of(a_slice("new").slice());
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 1U);
  inventory.keep(kGkePool, "pool-a", "default/first");
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
  EXPECT_EQ(inventory.judge(wish, "pool-a").text, "pool-a is kept for default/first");
  inventory.take(kGkePool, "pool-a", "default/second");
  inventory.give_back(kGkePool, "pool-a", "default/second");
  EXPECT_EQ(inventory.judge(wish, "pool-a").text, "pool-a is kept for default/first") << "it was not the second's";
  inventory.give_back(kGkePool, "pool-a", "default/first");
  EXPECT_EQ(inventory.judge(wish, "pool-a").text, "pool-a runs default/notebook");
  inventory.take(kGkePool, "pool-a", "default/second");
  EXPECT_EQ(inventory.judge(wish, "pool-a").text, "pool-a runs default/second") << "no longer kept";
}

TEST(Domains, ThatDoNotExistCanBeTakenWithoutHarm) {
  Inventory inventory = inventory_of(a_pool("pool-a").nodes());
  inventory.take(kGkePool, "pool-z", "default/first");
  EXPECT_THAT(inventory.domains(kGkePool), ElementsAre("pool-a"));
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 2U);
}

TEST(DomainOf, IsWhereTheNodeOfThePodIs) {
  const NodePtr node = a_pool("pool-a").nodes().front();
  EXPECT_EQ(domain_of(*a_slice("train").runs_in("pool-b").pod(0), kGkePool, node.get()), "pool-a");
  EXPECT_EQ(domain_of(*a_slice("train").runs_in("pool-b").pod(0), kRow, node.get()), "");
}

TEST(DomainOf, IsWhereThePodWasSentWhileItHasNoNode) {
  EXPECT_EQ(domain_of(*a_slice("train").sent_to("pool-b").pod(0), kGkePool, nullptr), "pool-b");
  EXPECT_EQ(domain_of(*a_slice("train").sent_to("").pod(0), kGkePool, nullptr), "");
}

TEST(DomainNoun, IsWhatPeopleCallIt) {
  EXPECT_EQ(domain_noun(kGkePool), "node pool");
  EXPECT_EQ(domain_noun(kGkePool, 0), "node pools");
  EXPECT_EQ(domain_noun(kRow, 1), "value of example.com/row");
  EXPECT_EQ(domain_noun(kRow, 2), "values of example.com/row");
}

TEST(WishOf, IsOnePodForEachWayOfChoosing) {
  const Wish alike = wish_of(a_slice("train").hosts(4).chips(2).topology_key(kRow).slice());
  EXPECT_THAT(alike.choosers, SizeIs(1));
  EXPECT_EQ(alike.hosts, 4);
  EXPECT_EQ(alike.chips, 2);
  EXPECT_EQ(alike.topology_key, kRow);
  EXPECT_THAT(wish_of(a_slice("train").hosts(4).host(2, tolerating_nothing()).slice()).choosers, SizeIs(2));
}

TEST(WishOf, IsThatOfTheWholeSliceAlthoughOnlyTheFirstHostIsThere) {
  const Wish wish = wish_of(a_slice("train").hosts(4).without(1).without(2).without(3).slice());
  EXPECT_EQ(wish.hosts, 4);
  EXPECT_THAT(wish.choosers, SizeIs(1));
}

TEST(WishOf, IsNotThatOfPodsWhichHaveANode) {
  EXPECT_THAT(wish_of(a_slice("train").hosts(2).runs_in("pool-a").slice()).choosers, IsEmpty());
}

TEST(SameWish, HoldsForSlicesThatGetTheSameVerdicts) {
  const Wish wish = wish_of(a_slice("train").hosts(2).slice());
  EXPECT_TRUE(same_wish(wish, wish_of(a_slice("other").in("team").hosts(2).priority(3).slice())));
  EXPECT_FALSE(same_wish(wish, wish_of(a_slice("other").hosts(3).slice())));
  EXPECT_FALSE(same_wish(wish, wish_of(a_slice("other").hosts(2).chips(2).slice())));
  EXPECT_FALSE(same_wish(wish, wish_of(a_slice("other").hosts(2).topology_key(kRow).slice())));
  EXPECT_FALSE(same_wish(wish, wish_of(a_slice("other").hosts(2).selects("zone", "z1").slice())));
}

}  // namespace
}  // namespace tpuslice::slice
