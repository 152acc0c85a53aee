#include "controllers/placement/domains/inventory.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chips.h"
#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> names_of(const Domains::ByValue& domains) {
  std::vector<std::string> names;
  for (const auto& [name, domain] : domains) names.push_back(name);
  return names;
}

SceneInventory inventory_of(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods = {}) {
  return {nodes, pods};
}

/// Whether a new slice of four hosts fits into the pool.
Fit fit_of(const PoolBuilder& pool, SliceBuilder slice = a_slice("new").hosts(4)) {
  SceneInventory inventory = inventory_of(pool.nodes());
  return inventory.check(node_requirements(slice.slice()), "pool-a");
}

PodChange tolerating_nothing() {
  return [](PodView& pod) { pod.scheduling.edit().tolerations.clear(); };
}
NodeChange of_another_topology() {
  return [](NodeView& node) { node.labels["topology"] = "2x4"; };
}
NodeChange with_chips(int chips) {
  return [=](NodeView& node) { tpu::set_chips(node, chips); };
}
PoolBuilder four_nodes() { return a_pool("pool-a").size(4); }
SliceBuilder four_hosts() { return a_slice("new").hosts(4); }
PoolBuilder shared_nodes(int size) { return a_pool("pool-a").size(size).label(tpu::kAcceleratorLabel, kTpu7x); }
SliceBuilder half_nodes() { return four_hosts().chips(2).selects(tpu::kAcceleratorLabel, kTpu7x); }

struct FitCase {
  const char* name;
  PoolBuilder pool;
  SliceBuilder slice;
  Obstacle obstacle;
  const char* text;
};
void PrintTo(const FitCase& c, std::ostream* out) { *out << c.name; }
class DomainFit : public ::testing::TestWithParam<FitCase> {};

TEST_P(DomainFit, NamesTheObstacle) {
  const Fit fit = fit_of(GetParam().pool, GetParam().slice);
  EXPECT_EQ(fit.obstacle, GetParam().obstacle);
  EXPECT_EQ(fit.text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, DomainFit,
    ::testing::Values(
        FitCase{"Sound", four_nodes(), four_hosts(), Obstacle::kNone, ""},
        FitCase{"Cordoned", four_nodes().node(1, cordoned), four_hosts(), Obstacle::kUnusable,
                "pool-a: node pool-a-1 is cordoned"},
        FitCase{"OneNotReady", four_nodes().node(2, not_ready), four_hosts(), Obstacle::kUnusable,
                "pool-a has 3 of 4 nodes Ready"},
        FitCase{"OneMissing", four_nodes().without(3), four_hosts(), Obstacle::kUnusable,
                "pool-a has 3 of 4 nodes Ready"},
        FitCase{"OneMissingAndOneNotReady", four_nodes().without(3).node(0, not_ready), four_hosts(),
                Obstacle::kUnusable, "pool-a has 2 of 4 nodes Ready"},
        FitCase{"OneBeingDeleted", four_nodes().node(0, [](NodeView& node) { node.deletion = start_of_time(); }),
                four_hosts(), Obstacle::kUnusable, "pool-a has 3 of 4 nodes Ready"},
        FitCase{"TooMany", four_nodes().size(5), four_hosts(), Obstacle::kUnusable,
                "pool-a has 5 nodes, the slice needs exactly 4"},
        FitCase{"TooManyOfWhichOneIsNotReady", four_nodes().size(5).node(4, not_ready), four_hosts(),
                Obstacle::kUnusable, "pool-a has 5 nodes, the slice needs exactly 4"},
        FitCase{"WithoutChips", four_nodes().node(0, without_chips), four_hosts(), Obstacle::kUnusable,
                "pool-a: node pool-a-0 advertises no TPU chips"},
        FitCase{"ChipsThatDoNotDivide", four_nodes().chips(6), four_hosts(), Obstacle::kUnusable,
                "pool-a: node pool-a-0 has 6 chips, a pod asks for 4"},
        FitCase{"TooFewChips", four_nodes().node(3, with_chips(1)), four_hosts(), Obstacle::kUnusable,
                "pool-a: node pool-a-3 has 1 chips, a pod asks for 4"},
        FitCase{"Tainted",
                four_nodes().node(2,
                                  [](NodeView& node) {
                                    node.taints.push_back({"repair", "now", "NoSchedule"});
                                  }),
                four_hosts(), Obstacle::kUnusable, "pool-a: node pool-a-2 has taint repair=now:NoSchedule"},
        FitCase{"TaintedAndNotTolerated", four_nodes(), four_hosts().each(tolerating_nothing()), Obstacle::kUnusable,
                "pool-a: node pool-a-0 has taint google.com/tpu=present:NoSchedule"},
        FitCase{"NotAlike", four_nodes().label("topology", "4x4").node(3, of_another_topology()),
                four_hosts().selects("topology", "4x4"), Obstacle::kUnusable,
                "pool-a: node pool-a-3 does not match the pods' node selector and affinity"},
        FitCase{"OfAnotherTopology", four_nodes().label("topology", "2x4"), four_hosts().selects("topology", "4x4"),
                Obstacle::kMismatch, ""},
        FitCase{"ExcludedByAffinity", four_nodes(), four_hosts().each([](PodView& pod) {
                  pod.scheduling.edit().node_affinity =
                      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}]}]})";
                }),
                Obstacle::kMismatch, ""},
        FitCase{"PodsWithoutChips", four_nodes(), four_hosts().chips(0), Obstacle::kMismatch, ""},
        FitCase{"TheFirstObstacleIsReported", four_nodes().node(3, cordoned).node(1, without_chips), four_hosts(),
                Obstacle::kUnusable, "pool-a: node pool-a-1 advertises no TPU chips"},
        FitCase{"TwoPodsOnEachNode", shared_nodes(2), half_nodes(), Obstacle::kNone, ""},
        FitCase{"TwoPodsOnEachNodeOfAnAcceleratorWhoseHostsShareNone", a_pool("pool-a").size(2), four_hosts().chips(2),
                Obstacle::kUnusable, "pool-a: node pool-a-0 has 4 chips, a pod asks for 2"},
        FitCase{"TwoPodsOnEachNodeOfWhichOneIsMissing", shared_nodes(1), half_nodes(), Obstacle::kUnusable,
                "pool-a has 1 of 2 nodes Ready"},
        FitCase{"TwoPodsOnEachNodeOfTooMany", shared_nodes(4), half_nodes(), Obstacle::kUnusable,
                "pool-a has 4 nodes, the slice needs exactly 2"}),
    [](const auto& test) { return test.param.name; });

TEST(DomainFit, NeedsANodeForEachDistinctPod) {
  const auto wants = [](const char* role) {
    return [=](PodView& pod) { pod.scheduling.edit().node_selector["role"] = role; };
  };
  const SliceBuilder slice = a_slice("new").hosts(2).host(0, wants("first")).host(1, wants("other"));
  const auto role = [](const char* value) { return [=](NodeView& node) { node.labels["role"] = value; }; };
  EXPECT_EQ(fit_of(a_pool("pool-a").size(2).node(0, role("first")).node(1, role("other")), slice).obstacle,
            Obstacle::kNone);
  EXPECT_EQ(fit_of(a_pool("pool-a").size(2).node(0, role("first")).node(1, role("first")), slice).obstacle,
            Obstacle::kMismatch);
}

/// Pool-a with two nodes, seen by a new slice of two hosts.
class OccupiedDomain : public ::testing::Test {
 protected:
  static Fit fit(const std::vector<PodPtr>& pods) {
    SceneInventory inventory = inventory_of(a_pool("pool-a").nodes(), pods);
    return inventory.check(node_requirements(a_slice("new").slice()), "pool-a");
  }
  static std::string obstacle_text(const std::vector<PodPtr>& pods) {
    const Fit found = fit(pods);
    EXPECT_EQ(found.obstacle, found.text.empty() ? Obstacle::kNone : Obstacle::kOccupied);
    return found.text;
  }
};

TEST_F(OccupiedDomain, RunsASlice) {
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").in("team").runs_in("pool-a")})),
            "pool-a runs team/job (train-0)");
}

TEST_F(OccupiedDomain, RunsAPodWithoutSlice) {
  EXPECT_EQ(obstacle_text({a_pod_without_slice("notebook", "pool-a-1")}), "pool-a runs default/notebook");
}

TEST_F(OccupiedDomain, RunsASliceOfOneHost) {
  EXPECT_EQ(obstacle_text(pods_of({a_slice("lone").hosts(1).runs_in("pool-a")})), "pool-a runs default/job (lone)");
}

TEST_F(OccupiedDomain, RunsASliceUntilItsLastTerminatingPodIsDeleted) {
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").runs_in("pool-a").terminating(0).terminating(1)})),
            "pool-a runs default/job (train-0)");
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").runs_in("pool-a").without(0).terminating(1)})),
            "pool-a runs default/job (train-0)");
  EXPECT_EQ(obstacle_text({}), "");
}

TEST_F(OccupiedDomain, IgnoresTerminalPods) {
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").runs_in("pool-a").succeeds(0).succeeds(1)})), "");
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").runs_in("pool-a").fails(0).fails(1)})), "");
}

TEST_F(OccupiedDomain, IgnoresPodsWithoutChipsAndPodsOnOtherNodes) {
  const auto on_it = [](PodView& pod) { pod.node_name = "pool-a-0"; };
  EXPECT_EQ(obstacle_text(pods_of({a_slice("other").without(0).without(1).companion("driver", on_it)})), "");
  EXPECT_EQ(obstacle_text({a_pod_without_slice("notebook", "pool-b-0")}), "");
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0")})), "") << "it waits, like the new one";
}

TEST_F(OccupiedDomain, BelongsToAPlacedSliceWithoutNodes) {
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").placed_in("pool-a")})), "pool-a runs default/job (train-0)");
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").placed_in("pool-a").gated(1)})),
            "pool-a runs default/job (train-0)");
}

TEST_F(OccupiedDomain, BelongsToAPartlyScheduledSlice) {
  // A node of the domain without a pod is occupied, too.
  SceneInventory inventory =
      inventory_of(a_pool("pool-a").nodes(), pods_of({a_slice("train-0").runs_in("pool-a").unscheduled(1)}));
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
  SceneInventory crashed =
      inventory_of(a_pool("pool-a").nodes(), pods_of({a_slice("train-0").runs_in("pool-a").gated(1)}));
  EXPECT_EQ(crashed.free_nodes(kGkePool, "pool-a"), 0U);
}

TEST_F(OccupiedDomain, BelongsToAReleasedSliceWithItsFirstNodeThere) {
  SceneInventory inventory =
      inventory_of(a_pool("pool-a").nodes(), pods_of({a_slice("train-0").placed_in("").unscheduled(1).host(
                                                 0, [](PodView& pod) { pod.node_name = "pool-a-0"; })}));
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
}

TEST_F(OccupiedDomain, IsFreeWhileAReleasedSliceHasNoNode) {
  EXPECT_EQ(obstacle_text(pods_of({a_slice("train-0").placed_in("")})), "");
}

TEST_F(OccupiedDomain, IsReportedAsUnusableFirst) {
  SceneInventory inventory =
      inventory_of(a_pool("pool-a").node(0, cordoned).nodes(), pods_of({a_slice("train-0").runs_in("pool-a")}));
  EXPECT_EQ(inventory.check(node_requirements(a_slice("new").slice()), "pool-a").text,
            "pool-a: node pool-a-0 is cordoned");
}

TEST(SplitHosts, ShareTheirNode) {
  // Two pods of two chips on each node of four chips.
  const SliceBuilder split = a_slice("split").hosts(4).chips(2).runs_in("pool-a").unscheduled(2).unscheduled(3).host(
      1, [](PodView& pod) { pod.node_name = "pool-a-0"; });
  SceneInventory inventory = inventory_of(shared_nodes(2).nodes(), split.pods());
  EXPECT_EQ(inventory.check(node_requirements(half_nodes().slice()), "pool-a").text, "pool-a runs default/job (split)");
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
}

TEST(Domains, AreTheValuesOfTheTopologyKeyInOrder) {
  SceneInventory inventory = inventory_of(
      nodes_of({a_pool("pool-b").label(kRow, "row-1"), a_pool("pool-a").label(kRow, "row-1"), a_pool("pool-c")}));
  EXPECT_THAT(names_of(inventory.domains(kGkePool)), ElementsAre("pool-a", "pool-b", "pool-c"));
  EXPECT_THAT(names_of(inventory.domains(kRow)), ElementsAre("row-1")) << "a node without the label is in no domain";
  EXPECT_THAT(names_of(inventory.domains("example.com/unknown")), IsEmpty());
}

TEST(Domains, ThatOverlapAreOccupiedTogether) {
  const std::vector<NodePtr> nodes =
      nodes_of({a_pool("pool-a").label(kRow, "row-1"), a_pool("pool-b").label(kRow, "row-1"),
                a_pool("pool-c").label(kRow, "row-2"), a_pool("pool-d").label(kRow, "row-2")});
  const NodeRequirements small = node_requirements(a_slice("new").slice());
  const NodeRequirements large = node_requirements(a_slice("new").hosts(4).topology_key(kRow).slice());

  SceneInventory one = inventory_of(nodes, pods_of({a_slice("small").placed_in("pool-b")}));
  EXPECT_EQ(one.check(large, "row-1").text, "row-1 runs default/job (small)");
  EXPECT_EQ(one.check(large, "row-2").obstacle, Obstacle::kNone);
  EXPECT_EQ(one.check(small, "pool-a").obstacle, Obstacle::kNone);

  SceneInventory two = inventory_of(nodes, pods_of({a_slice("large").hosts(4).topology_key(kRow).placed_in("row-2")}));
  EXPECT_EQ(two.check(small, "pool-c").text, "pool-c runs default/job (large)");
  EXPECT_EQ(two.check(small, "pool-d").text, "pool-d runs default/job (large)");
  EXPECT_EQ(two.check(small, "pool-a").obstacle, Obstacle::kNone);
}

TEST(Domains, AreOccupiedReservedAndReleased) {
  SceneInventory inventory = inventory_of(a_pool("pool-a").nodes(), {a_pod_without_slice("notebook", "pool-a-1")});
  const NodeRequirements requirements = node_requirements(a_slice("new").slice());
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 1U);
  inventory.reserve(kGkePool, "pool-a", "default/first");
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 0U);
  EXPECT_EQ(inventory.check(requirements, "pool-a").text, "pool-a is reserved for default/first");
  inventory.occupy(kGkePool, "pool-a", "default/second");
  inventory.release(kGkePool, "pool-a", "default/second");
  EXPECT_EQ(inventory.check(requirements, "pool-a").text, "pool-a is reserved for default/first")
      << "it was not the second's";
  inventory.release(kGkePool, "pool-a", "default/first");
  EXPECT_EQ(inventory.check(requirements, "pool-a").text, "pool-a runs default/notebook");
  inventory.occupy(kGkePool, "pool-a", "default/second");
  EXPECT_EQ(inventory.check(requirements, "pool-a").text, "pool-a runs default/second") << "no longer kept";
}

TEST(Domains, ThatDoNotExistCanBeOccupied) {
  SceneInventory inventory = inventory_of(a_pool("pool-a").nodes());
  inventory.occupy(kGkePool, "pool-z", "default/first");
  EXPECT_THAT(names_of(inventory.domains(kGkePool)), ElementsAre("pool-a"));
  EXPECT_EQ(inventory.free_nodes(kGkePool, "pool-a"), 2U);
}

TEST(DomainOf, IsThatOfThePodsNode) {
  const NodePtr node = a_pool("pool-a").nodes().front();
  EXPECT_EQ(domain_of(*a_slice("train").runs_in("pool-b").pod(0), kGkePool, node.get()), "pool-a");
  EXPECT_EQ(domain_of(*a_slice("train").runs_in("pool-b").pod(0), kRow, node.get()), "");
}

TEST(DomainOf, IsThatOfThePlacementWithoutANode) {
  EXPECT_EQ(domain_of(*a_slice("train").placed_in("pool-b").pod(0), kGkePool, nullptr), "pool-b");
  EXPECT_EQ(domain_of(*a_slice("train").placed_in("").pod(0), kGkePool, nullptr), "");
}

TEST(DomainNoun, IsNodePoolOnGke) {
  EXPECT_EQ(domain_noun(kGkePool), "node pool");
  EXPECT_EQ(domain_noun(kGkePool, 0), "node pools");
  EXPECT_EQ(domain_noun(kRow, 1), "value of example.com/row");
  EXPECT_EQ(domain_noun(kRow, 2), "values of example.com/row");
}

TEST(NodeRequirementsOf, HaveOnePodForEachDistinctSet) {
  const NodeRequirements alike = node_requirements(a_slice("train").hosts(4).chips(2).topology_key(kRow).slice());
  EXPECT_THAT(alike.pods, SizeIs(1));
  EXPECT_EQ(alike.hosts, 4);
  EXPECT_EQ(alike.chips, 2);
  EXPECT_EQ(alike.topology_key, kRow);
  EXPECT_THAT(node_requirements(a_slice("train").hosts(4).host(2, tolerating_nothing()).slice()).pods, SizeIs(2));
}

TEST(NodeRequirementsOf, CountMissingHosts) {
  const NodeRequirements requirements =
      node_requirements(a_slice("train").hosts(4).without(1).without(2).without(3).slice());
  EXPECT_EQ(requirements.hosts, 4);
  EXPECT_THAT(requirements.pods, SizeIs(1));
}

TEST(NodeRequirementsOf, IgnoreBoundPods) {
  EXPECT_THAT(node_requirements(a_slice("train").hosts(2).runs_in("pool-a").slice()).pods, IsEmpty());
}

TEST(NodeRequirements, AreEquivalentIfEveryCheckIsTheSame) {
  const NodeRequirements requirements = node_requirements(a_slice("train").hosts(2).slice());
  EXPECT_TRUE(
      are_equivalent(requirements, node_requirements(a_slice("other").in("team").hosts(2).priority(3).slice())));
  EXPECT_FALSE(are_equivalent(requirements, node_requirements(a_slice("other").hosts(3).slice())));
  EXPECT_FALSE(are_equivalent(requirements, node_requirements(a_slice("other").hosts(2).chips(2).slice())));
  EXPECT_FALSE(are_equivalent(requirements, node_requirements(a_slice("other").hosts(2).topology_key(kRow).slice())));
  EXPECT_FALSE(
      are_equivalent(requirements, node_requirements(a_slice("other").hosts(2).selects("zone", "z1").slice())));
}

// A user may set any node selector.
TEST(Inventory, DoesNotCountTheNodeSelectorOfAPodWithoutANodeAsAClaim) {
  const SliceBuilder ungated = a_slice("greedy").topology_key(kRow).selects(kRow, "row-1").each([](PodView& pod) {
    pod.scheduling.edit().gates.clear();
  });
  SceneInventory inventory = inventory_of(four_nodes().label(kRow, "row-1").nodes(), ungated.pods());
  EXPECT_EQ(inventory.check(node_requirements(four_hosts().slice()), "pool-a").obstacle, Obstacle::kNone);
}

TEST(Inventory, ADomainIsEndingWhenAllUsersAreTerminating) {
  const std::vector<PodPtr> pods =
      pods_of({a_slice("w").runs_in("pool-a").terminating(0).terminating(1),
               a_slice("x").runs_in("pool-b").terminating(0), a_slice("y").runs_in("pool-c")});
  SceneInventory inventory(lettered_pools(4), pods);
  EXPECT_TRUE(inventory.ending_until(kGkePool, "pool-a"));
  EXPECT_FALSE(inventory.ending_until(kGkePool, "pool-b")) << "one host runs on";
  EXPECT_FALSE(inventory.ending_until(kGkePool, "pool-c"));
  EXPECT_FALSE(inventory.ending_until(kGkePool, "pool-d")) << "it is free";
  EXPECT_FALSE(inventory.ending_until(kGkePool, "no-such-pool"));
}

TEST(Inventory, ADomainIsNotEndingOnceAPodShouldHaveBeenGoneForMinutes) {
  const PodPtr stuck = a_slice("w").runs_in("pool-a").terminating(0).terminating(1).pods().front();
  const auto is_ending = [&](Duration after_deadline) {
    return Use{.pod = stuck}.is_ending(*stuck->deletion + after_deadline);
  };
  EXPECT_TRUE(is_ending(-30s)) << "in its grace period";
  EXPECT_TRUE(is_ending(5min - 1ms));
  EXPECT_FALSE(is_ending(5min));
  const std::vector<PodPtr> pods = a_slice("w").runs_in("pool-a").terminating(0).terminating(1).pods();
  EXPECT_TRUE(SceneInventory(lettered_pools(1), pods, *stuck->deletion).ending_until(kGkePool, "pool-a"));
  EXPECT_FALSE(SceneInventory(lettered_pools(1), pods, *stuck->deletion + 1h).ending_until(kGkePool, "pool-a"));
}

TEST(Inventory, FreeAndReservedNodesOfAnEndingDomainDoNotCount) {
  const std::vector<PodPtr> pods = a_slice("w").runs_in("pool-11").terminating(0).terminating(1).pods();
  SceneInventory inventory(numbered_rows(1, 2), pods);
  EXPECT_TRUE(inventory.ending_until(kRow, "row-1"));
  inventory.reserve(kGkePool, "pool-12", "default/job (x)");
  EXPECT_TRUE(inventory.ending_until(kRow, "row-1"));
  EXPECT_FALSE(inventory.ending_until(kGkePool, "pool-12"));
}

TEST(NodeRequirements, OfOneSliceAreLimited) {
  SliceBuilder slice = a_slice("odd").hosts(9);
  for (int host = 0; host < 9; ++host) {
    slice.host(host, [=](PodView& pod) { pod.scheduling.edit().node_selector["host"] = std::to_string(host); });
  }
  EXPECT_TRUE(node_requirements(slice.slice()).too_many);
  EXPECT_FALSE(node_requirements(slice.without(8).slice()).too_many);
}

}  // namespace
}  // namespace tpuslice::placement
