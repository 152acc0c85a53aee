// Nodes that are about to be removed or stopped, and what it means for domains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/domains/node_match.h"
#include "tests/unit/controllers/placement/decisions.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

NodeChange tainted(const std::string& key, const std::string& effect = "NoSchedule") {
  return [=](NodeView& node) { node.taints.push_back({key, "", effect}); };
}
NodeChange labelled(const std::string& key, const std::string& value) {
  return [=](NodeView& node) { node.labels[key] = value; };
}
std::string reason_of(const NodeChange& change) { return removal_reason(*a_pool("a").each(change).nodes().front()); }

TEST(RemovalReason, IsATaintOfTheOneThatRemovesTheNode) {
  for (const char* key : {"ToBeDeletedByClusterAutoscaler", "cloud.google.com/impending-node-termination",
                          "cloud.google.com/maintenance-window-started", "node.kubernetes.io/out-of-service"}) {
    for (const char* effect : {"NoSchedule", "NoExecute", "PreferNoSchedule", ""}) {
      EXPECT_EQ(reason_of(tainted(key, effect)), std::string("has taint ") + key);
    }
  }
}

TEST(RemovalReason, IsALabelThatSaysMaintenanceIsNow) {
  EXPECT_EQ(reason_of(labelled("cloud.google.com/active-node-maintenance", "ONGOING")),
            "has label cloud.google.com/active-node-maintenance=ONGOING");
  EXPECT_EQ(reason_of(labelled("cloud.google.com/perform-maintenance", "true")),
            "has label cloud.google.com/perform-maintenance=true");
  EXPECT_EQ(reason_of(labelled("cloud.google.com/active-node-maintenance", "")), "");
  EXPECT_EQ(reason_of(labelled("cloud.google.com/perform-maintenance", "false")), "");
  EXPECT_EQ(reason_of(labelled("cloud.google.com/scheduled-maintenance-time", "1767225600")), "");
}

TEST(RemovalReason, IsEmptyForOtherNodes) {
  EXPECT_EQ(reason_of([](NodeView&) {}), "");
  EXPECT_EQ(reason_of(tainted("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule")), "")
      << "a pod that starts there ends that";
  EXPECT_EQ(reason_of(tainted("node.kubernetes.io/unschedulable")), "");
  EXPECT_EQ(reason_of(tainted("cloud.google.com/gke-spot")), "");
}

TEST(NodesToBeRemoved, MakeTheirDomainUnusableEvenForPodsThatTolerateAll) {
  const auto tolerates_all = [](PodView& pod) { pod.scheduling.edit().tolerations = {{.exists = true}}; };
  const Decisions out =
      decide({.nodes = a_pool("pool-a").node(1, tainted("cloud.google.com/impending-node-termination")).nodes(),
              .ready = slices_of({a_slice("x").each(tolerates_all)})});
  EXPECT_THAT(out.waiting, ElementsAre(Pair("x",
                                            "1 node pool matches, none is free: pool-a: node pool-a-1 has taint "
                                            "cloud.google.com/impending-node-termination")));
  EXPECT_THAT(out.lacking, ElementsAre("x")) << "new nodes would help";
}

TEST(NodesToBeRemoved, AreSkippedWhereOthersAreFree) {
  const Decisions out =
      decide({.nodes = nodes_of({a_pool("pool-a").node(0, labelled("cloud.google.com/perform-maintenance", "true")),
                                 a_pool("pool-b")}),
              .ready = slices_of({a_slice("x")})});
  EXPECT_THAT(out.placed, ElementsAre("x to pool-b"));
}

TEST(NodesToBeRemoved, AreNotReservedForAGang) {
  const Decisions out = decide(
      {.nodes = nodes_of({a_pool("pool-a"), a_pool("pool-b").each(tainted("ToBeDeletedByClusterAutoscaler"))}),
       .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2), a_slice("young").created(9s)})});
  EXPECT_THAT(out.placed, ElementsAre("young to pool-a")) << "the gang does not fit into the cluster";
}

}  // namespace
}  // namespace tpuslice::placement
