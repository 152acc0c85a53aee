#include "fleet/node_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/domains/node_match.h"
#include "fleet/model.h"
#include "tests/support/fleet_document.h"
#include "tpu/chips.h"

namespace tpuslice::fleet {
namespace {

using testing::FleetDocument;
using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto pools = new_pools(text, {});
  return pools.ok() ? "" : pools.error().message();
}

TEST(NewPools, HaveTheNodesOfTheirTopology) {
  const auto nodes = *new_pools("v6e 4x4 x3", {});
  ASSERT_EQ(nodes.size(), 12U);
  EXPECT_EQ(nodes[0]->key.name, "v6e-4x4-new-1-0");
  EXPECT_EQ(value_of(nodes[11]->labels, tpu::kNodePoolLabel), "v6e-4x4-new-3");
  EXPECT_EQ(tpu::chips_of(*nodes[0]), 4);
  EXPECT_EQ(new_pools("v5p 2x2x4", {})->size(), 4U);
  EXPECT_EQ(placement::accelerator_of(new_pools("v5e 4x8", {})->front()->labels), "tpu-v5-lite-podslice");
  EXPECT_EQ(placement::accelerator_of(new_pools("tpu-v3-device 2x2", {})->front()->labels), "tpu-v3-device");
}

TEST(NewPools, AreLikeThoseThatExist) {
  FleetDocument document;
  document.pool({.name = "v6e-4x4-new-1", .not_ready = {0}, .cordoned = {0}, .spot = true, .maintenance = true});
  const Snapshot snapshot = *read_snapshot(document.json());
  const auto nodes = *new_pools("v6e 4x4", snapshot);
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[0]->key.name, "v6e-4x4-new-2-0") << "the first name is taken";
  EXPECT_EQ(value_of(nodes[0]->labels, tpu::kZoneLabel), "us-east5-a");
  EXPECT_TRUE(nodes[0]->ready);
  EXPECT_FALSE(nodes[0]->unschedulable);
  EXPECT_FALSE(placement::scheduled_maintenance(*nodes[0]));
}

TEST(NewPools, HaveTheTaintsOfAdministrators) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  Json nodes = document.json()["nodes"];
  nodes[0]["spec"]["taints"].push_back({{"key", "team"}, {"value", "ml"}, {"effect", "NoSchedule"}});
  nodes[0]["spec"]["taints"].push_back({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoExecute"}});
  document.set("nodes", nodes);
  std::vector<std::string> keys;
  const auto pool = *new_pools("v6e 4x4", *read_snapshot(document.json()));
  for (const NodeTaint& each : pool.front()->taints) keys.push_back(each.key);
  EXPECT_THAT(keys, ::testing::Contains("team"));
  EXPECT_THAT(keys, ::testing::Not(::testing::Contains("node.kubernetes.io/not-ready")));
}

TEST(NewPools, AreUsedByASliceThatWaits) {
  FleetDocument document;
  document.slice({.workload = "next"});
  Snapshot snapshot = *read_snapshot(document.json());
  snapshot.nodes = *new_pools("v6e 4x4", snapshot);
  EXPECT_EQ(build_fleet(snapshot).slices.front().pool, "v6e-4x4-new-1");
}

TEST(NewPools, ErrorsSayWhatWouldBeRight) {
  EXPECT_THAT(error_of("v6e"), HasSubstr("expected \"v6e 4x4 x3\""));
  EXPECT_THAT(error_of("v9 4x4"), HasSubstr("expected one of tpu7, tpu7x, v3, v4, v5e, v5p, v6e"));
  EXPECT_THAT(error_of("v6e 4x5"), HasSubstr("4x5"));
  EXPECT_THAT(error_of("v6e 4x4 x0"), HasSubstr("expected x1 to x1000"));
  EXPECT_THAT(error_of("v6e 4x4 3"), HasSubstr("expected x1 to x1000"));
}

}  // namespace
}  // namespace tpuslice::fleet
