#include "controllers/placement/domains/chosen_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "controllers/slice/slice_state.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using slice::plan_slice;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

PoolBuilder a_named_pool(const std::string& name) { return a_pool(name).hostnames(); }

/// "pool-a: pool-a-0, pool-a-1", or why there is none.
std::string chosen(const SliceBuilder& slice, const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods = {},
                   std::string_view viewer = {}) {
  SceneInventory inventory(nodes, pods);
  const Result<ChosenNodes> out = chosen_nodes(node_requirements(slice.slice()), inventory, viewer);
  if (out) return fmt::format("{}: {}", out->domain, fmt::join(out->nodes, ", "));
  EXPECT_EQ(out.error().code(), ErrorCode::kConflict);
  return out.error().message();
}

TEST(ChosenNodes, AreInTheOrderOfTheHosts) {
  const std::vector<NodePtr> nodes = nodes_of({a_named_pool("pool-a"), a_named_pool("pool-b")});
  EXPECT_EQ(chosen(a_slice("x").on({"pool-b-1", "pool-b-0"}), nodes), "pool-b: pool-b-1, pool-b-0");
}

TEST(ChosenNodes, AreFoundByTheLabelNotByTheName) {
  const auto named = [](NodeView& node) { node.labels[std::string(tpu::kHostnameLabel)] = node.key.name + ".local"; };
  const std::vector<NodePtr> nodes = a_pool("pool-a").each(named).nodes();
  EXPECT_EQ(chosen(a_slice("x").on({"pool-a-0.local", "pool-a-1.local"}), nodes), "pool-a: pool-a-0, pool-a-1");
  EXPECT_EQ(chosen(a_slice("x").on({"pool-a-0", "pool-a-1"}), nodes),
            "its pods select node pool-a-0, which does not exist or has another accelerator");
  EXPECT_THAT(chosen(a_slice("x").on({"pool-a-0", "pool-a-1"}), a_pool("pool-a").nodes()),
              HasSubstr("does not exist or has another accelerator"))
      << "nodes without the label";
}

TEST(ChosenNodes, MayBeSharedByPodsThatAskForFewerChips) {
  const std::vector<NodePtr> nodes = a_named_pool("pool-a").chips(8).label(tpu::kAcceleratorLabel, kTpu7x).nodes();
  const SliceBuilder slice = a_slice("x").hosts(4).selects(tpu::kAcceleratorLabel, kTpu7x);
  EXPECT_EQ(chosen(SliceBuilder(slice).on({"pool-a-0", "pool-a-1", "pool-a-0", "pool-a-1"}), nodes),
            "pool-a: pool-a-0, pool-a-1, pool-a-0, pool-a-1");
  EXPECT_EQ(chosen(SliceBuilder(slice).on({"pool-a-0", "pool-a-0", "pool-a-0", "pool-a-1"}), nodes),
            "12 chips are asked for on node pool-a-0, which its pods select and which has 8");
}

TEST(ChosenNodes, MustBeChosenForAllPods) {
  const std::vector<NodePtr> nodes = a_named_pool("pool-a").nodes();
  for (const auto& hostnames : {std::vector<std::string>{"pool-a-0", ""}, {"", "pool-a-1"}}) {
    EXPECT_EQ(chosen(a_slice("x").on(hostnames), nodes),
              "1 of its 2 pods select a node by kubernetes.io/hostname: all or none must");
  }
}

TEST(ChosenNodes, MustBeOfOneDomain) {
  std::vector<NodePtr> nodes;
  std::vector<std::string> hostnames;
  for (const char* letter : {"h", "g", "f", "e", "d", "c", "b", "a"}) {
    const std::string pool = std::string("pool-") + letter;
    for (NodePtr& node : a_named_pool(pool).nodes()) nodes.push_back(node);
    hostnames.push_back(pool + "-0");
  }
  EXPECT_EQ(chosen(a_slice("x").hosts(2).on({"pool-b-0", "pool-a-1"}), nodes),
            "its pods select nodes of 2 node pools, a slice runs in one: pool-a, pool-b");
  EXPECT_EQ(
      chosen(a_slice("x").hosts(8).on(hostnames), nodes),
      "its pods select nodes of 8 node pools, a slice runs in one: pool-a, pool-b, pool-c, pool-d, pool-e, pool-f");
}

TEST(ChosenNodes, MustBeAWholeDomain) {
  EXPECT_EQ(chosen(a_slice("x").on({"pool-a-0", "pool-a-1"}), a_named_pool("pool-a").size(4).nodes()),
            "pool-a has 4 nodes, the slice needs exactly 2");
  EXPECT_EQ(chosen(a_slice("x").on({"pool-a-0", "pool-a-1"}), a_named_pool("pool-a").node(1, not_ready).nodes()),
            "pool-a has 1 of 2 nodes Ready");
}

TEST(ChosenNodes, MustBeFree) {
  const std::vector<NodePtr> nodes = a_named_pool("pool-a").nodes();
  const std::vector<PodPtr> pods = a_slice("old").in("team").runs_in("pool-a").pods();
  const SliceBuilder slice = a_slice("x").on({"pool-a-0", "pool-a-1"});
  EXPECT_EQ(chosen(slice, nodes, pods, "default"), "pool-a runs a workload of another namespace");
  EXPECT_EQ(chosen(slice, nodes, pods), "pool-a runs team/job (old)");
}

TEST(ChosenNodes, MustMatchTheOtherRequirementsOfThePods) {
  const SliceBuilder slice = a_slice("x").on({"pool-a-0", "pool-a-1"}).selects("zone", "z1");
  EXPECT_EQ(chosen(slice, a_named_pool("pool-a").nodes()),
            "the nodes that its pods select do not match their node selector and affinity");
  EXPECT_EQ(chosen(slice, a_named_pool("pool-a").label("zone", "z1").nodes()), "pool-a: pool-a-0, pool-a-1");
}

// Slices with hosts that are created once host 0 has a node.

SliceBuilder host0_of(int hosts, std::string_view start, const std::string& hostname) {
  std::vector<std::string> hostnames(static_cast<std::size_t>(hosts));
  hostnames[0] = hostname;
  SliceBuilder slice = a_slice("x").hosts(hosts).start(start).on(hostnames);
  for (int host = 1; host < hosts; ++host) slice.without(host);
  return slice;
}

TEST(ChosenNodes, OfTheFirstHostChooseTheDomainOfAll) {
  const std::vector<NodePtr> nodes = nodes_of({a_named_pool("pool-a").size(4), a_named_pool("pool-b").size(4)});
  for (const std::string_view start : {tpu::kOthersFollowHost0, tpu::kHost0IfAlone, tpu::kHostByHost}) {
    const SliceBuilder slice = host0_of(4, start, "pool-b-2");
    EXPECT_EQ(chosen(slice, nodes), "pool-b: ") << start << ": the nodes of the others are not known";
    EXPECT_EQ(chosen(slice, nodes, a_slice("old").hosts(4).runs_in("pool-b").pods()), "pool-b runs default/job (old)");
    EXPECT_THAT(decide({.nodes = nodes, .ready = slices_of({slice})}).placed, ElementsAre("x to pool-b"));
  }
  EXPECT_EQ(chosen(host0_of(2, tpu::kHostByHost, "pool-b-2"), nodes), "pool-b has 4 nodes, the slice needs exactly 2");
}

TEST(ChosenNodes, OfSomeOfTheHostsThatExistAreNotEnough) {
  const std::vector<NodePtr> nodes = a_named_pool("pool-a").size(4).nodes();
  SliceBuilder slice = a_slice("x").hosts(4).start(tpu::kHostByHost).on({"pool-a-0", "", "", ""}).without(2).without(3);
  EXPECT_EQ(chosen(slice, nodes), "1 of its 2 pods select a node by kubernetes.io/hostname: all or none must");
}

TEST(ChosenNodes, AreNotNeededForHostsThatHaveSucceeded) {
  const std::vector<NodePtr> nodes = a_named_pool("pool-a").size(4).nodes();
  const auto ended = [](PodView& pod) {
    pod.phase = PodPhase::kSucceeded;
    pod.node_name = "pool-z-0";
  };
  const SliceBuilder resumed = a_slice("x").hosts(4).on({"", "pool-a-1", "pool-a-2", "pool-a-3"}).host(0, ended);
  EXPECT_EQ(chosen(resumed, nodes), "pool-a: ");
}

// Requirements.

TEST(HostnamesOfRequirements, AreByHostIndexAndNoOtherRequirement) {
  const NodeRequirements both = node_requirements(a_slice("x").on({"n-0", "n-1"}).slice());
  EXPECT_THAT(both.hostnames, ElementsAre("n-0", "n-1"));
  EXPECT_EQ(both.pods.size(), 1U) << "each pod selects another node, but nothing else differs";
  EXPECT_THAT(node_requirements(a_slice("x").hosts(3).on({"", "n-1"}).slice()).hostnames, ElementsAre("", "n-1", ""));
  EXPECT_THAT(node_requirements(a_slice("x").slice()).hostnames, IsEmpty());
  EXPECT_TRUE(are_equivalent(both, node_requirements(a_slice("y").slice())));
  EXPECT_TRUE(are_equivalent(both, node_requirements(a_slice("y").on({"n-8", "n-9"}).slice())));
}

TEST(HostnamesOfRequirements, OmitPodsThatAreBound) {
  const NodeRequirements open =
      node_requirements(a_slice("x").runs_in("pool-a").unscheduled(1).on({"pool-a-0", "pool-a-1"}).slice());
  EXPECT_THAT(open.hostnames, ElementsAre("", "pool-a-1"));
}

TEST(NodeByHostname, IsNullForAnUnknownHostname) {
  SceneInventory inventory(nodes_of({a_named_pool("pool-a"), a_pool("pool-b")}), {});
  ASSERT_NE(inventory.node_by_hostname("pool-a-1"), nullptr);
  EXPECT_EQ(inventory.node_by_hostname("pool-a-1")->key.name, "pool-a-1");
  EXPECT_EQ(inventory.node_by_hostname("pool-b-0"), nullptr);
  EXPECT_EQ(SceneInventory({}, {}).node_by_hostname("pool-a-0"), nullptr);
}

// Placement.

TEST(AssignChosenNodes, GivesASliceItsNodesAndNoOthers) {
  const std::vector<NodePtr> nodes = nodes_of({a_named_pool("pool-a"), a_named_pool("pool-b")});
  const SliceBuilder slice = a_slice("x").on({"pool-b-1", "pool-b-0"});
  EXPECT_THAT(decide({.nodes = nodes, .ready = slices_of({slice})}).placed, ElementsAre("x to pool-b"));
  const Decisions waits =
      decide({.nodes = nodes, .pods = a_slice("old").runs_in("pool-b").pods(), .ready = slices_of({slice})});
  EXPECT_THAT(waits.waiting, ElementsAre(Pair("x", "pool-b runs default/job (old)")));
  EXPECT_THAT(waits.lacking, IsEmpty()) << "new nodes would not help";
}

TEST(AssignChosenNodes, PlacesASliceBeforeOlderOnesWithoutAChoice) {
  const Decisions out =
      decide({.nodes = a_named_pool("pool-a").nodes(),
              .ready = slices_of({a_slice("old"), a_slice("x").created(1h).on({"pool-a-0", "pool-a-1"})})});
  EXPECT_THAT(out.placed, ElementsAre("x to pool-a"));
}

TEST(AssignChosenNodes, GivesNoNodeToTwoSlices) {
  const Decisions out = decide(
      {.nodes = a_named_pool("pool-a").nodes(),
       .ready = slices_of({a_slice("x").on({"pool-a-0", "pool-a-1"}), a_slice("y").on({"pool-a-1", "pool-a-0"})})});
  EXPECT_THAT(out.placed, ElementsAre("x to pool-a"));
  EXPECT_THAT(out.waiting, ElementsAre(Pair("y", "pool-a runs default/job (x)")));
}

TEST(AssignChosenNodes, PlacesNoSliceOfAGangIfTheNodesOfOneAreNotFree) {
  const std::vector<NodePtr> nodes = nodes_of({a_named_pool("pool-a"), a_named_pool("pool-b"), a_named_pool("pool-c")});
  const Decisions out = decide({.nodes = nodes,
                                .pods = a_slice("old").runs_in("pool-b").pods(),
                                .ready = slices_of({a_slice("w").gang("g", 2).on({"pool-a-0", "pool-a-1"}),
                                                    a_slice("x").gang("g", 2).on({"pool-b-0", "pool-b-1"}),
                                                    a_slice("younger").created(1h), a_slice("youngest").created(2h)})});
  EXPECT_THAT(out.placed, ElementsAre("younger to pool-a", "youngest to pool-c"));
  EXPECT_EQ(out.waiting.at("w"), "pool-b runs default/job (old)");
}

TEST(AssignChosenNodes, ExplainsAGangThatLacksADomainForOneWithoutAChoice) {
  const Decisions out = decide({.nodes = a_named_pool("pool-a").nodes(),
                                .ready = slices_of({a_slice("w").gang("g", 2).on({"pool-a-0", "pool-a-1"}),
                                                    a_slice("x").gang("g", 2), a_slice("younger").created(1h)})});
  EXPECT_THAT(out.placed, ElementsAre("younger to pool-a"));
  EXPECT_EQ(out.waiting.at("x"),
            "nodes are chosen for some of the slices that start together, and none is free for others");
  EXPECT_THAT(out.lacking, IsEmpty());
}

TEST(PlaceOnChosenNodes, ReleasesAFirstHostToTheDomainOfItsNode) {
  PlacementScene seen = observed({a_named_pool("pool-a").size(4), a_named_pool("pool-b").size(4)},
                                 {host0_of(4, tpu::kHostByHost, "pool-b-2")}, 1min);
  const plan::Plan plan = plan_placement(seen, {});
  ASSERT_FALSE(plan.stages.empty()) << plan.reason;
  const Json patch = *action_of(plan, "patch Pod x-0").body.make();
  EXPECT_EQ(string_at(patch, {"metadata", "annotations", tpu::kPlacedIn}), "pool-b");
  EXPECT_EQ(string_at(patch, {"metadata", "annotations", tpu::kSliceMembers}), kOpenMembers);
  EXPECT_FALSE(patch.at("spec").contains("affinity")) << "its node selector names the node";
}

TEST(PlaceOnChosenNodes, BindsEachHostToTheNodeThatItSelects) {
  PlacementScene seen =
      observed({a_named_pool("pool-a"), a_named_pool("pool-b")}, {a_slice("x").on({"pool-b-1", "pool-b-0"})});
  const plan::Plan plan = plan_placement(seen, {});
  const Json patch = *action_of(plan, "patch Pod x-0").body.make();
  EXPECT_EQ(string_at(patch, {"metadata", "annotations", tpu::kPlacedOn}), "pool-b-1,pool-b-0");
  EXPECT_EQ(patch.at("spec").at("affinity").dump(),
            R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
            R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["pool-b-1"]}]}]}}})");
}

TEST(PlacedOnChosenNodes, SaysWhichFieldKeepsALaterHostOutOfTheDomain) {
  const auto elsewhere = [](PodView& pod) {
    pod.scheduling.edit().node_selector[std::string(tpu::kHostnameLabel)] = "pool-b-1";
    pod.unschedulable = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.";
  };
  const SliceBuilder slice = a_slice("x").start(tpu::kHostByHost).runs_in("pool-a").unscheduled(1).host(1, elsewhere);
  const plan::Plan plan = plan_slice({slice.key(), slice.pods(), {}, after(1min)}, {});
  EXPECT_THAT(plan.reason, HasSubstr("pod x-1 has no node in pool-a yet"));
  EXPECT_THAT(plan.reason,
              HasSubstr("its node selector kubernetes.io/hostname is pool-b-1, which must be a node of pool-a"));
}

}  // namespace
}  // namespace tpuslice::placement
