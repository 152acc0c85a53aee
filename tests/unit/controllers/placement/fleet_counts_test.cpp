#include "controllers/placement/fleet_counts.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/fleet_metrics.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using slice::a_pool;
using slice::a_slice;
using slice::after;
using slice::kGkePool;
using slice::kV6e;
using slice::nodes_of;
using slice::PoolBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A node pool of 4x4: four nodes of 4 chips.
PoolBuilder pool(const char* name) { return a_pool(name).size(4).label(tpu::kTopologyLabel, "4x4"); }

FleetCounts count(const std::vector<NodePtr>& nodes, const std::set<std::string>& used = {}) {
  return count_fleet(nodes, kGkePool, [&](const NodeView& node) { return used.contains(node.key.name); });
}

// free, draining, in use, broken

TEST(FleetCounts, CountPoolsAndChipsByState) {
  const FleetCounts counts =
      count(nodes_of({pool("free"), pool("used"), pool("part"), pool("drained").node(1, slice::cordoned),
                      pool("lost").node(2, slice::not_ready), pool("bare").node(0, slice::without_chips),
                      pool("short").without(3)}),
            {"used-0", "used-1", "used-2", "used-3", "part-0", "lost-0"});
  EXPECT_THAT(counts.pools.at({kV6e, "4x4"}), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(counts.chips.at(kV6e), ElementsAre(16, 16, 16 + 16 + 4, 12 + 16 + 12));
}

TEST(FleetCounts, CountASingleHostAsAPool) {
  const FleetCounts counts =
      count(nodes_of({a_pool("many").size(5).label(tpu::kTopologyLabel, "2x2").node(4, slice::cordoned)}), {"many-1"});
  EXPECT_THAT(counts.pools.at({kV6e, "2x2"}), ElementsAre(3, 1, 1, 0));
}

TEST(FleetCounts, AddWhatTheCatalogLacks) {
  const auto of_mine = [](NodeView& node) { node.labels[std::string(tpu::kAcceleratorLabel)] = "tpu-mine"; };
  const FleetCounts counts = count(
      nodes_of({a_pool("a").each(of_mine), a_pool("b").each(of_mine), a_pool("c").label(tpu::kTopologyLabel, "4x5")}));
  EXPECT_THAT(counts.pools.at({"other", "other"}), ElementsAre(4, 0, 0, 0));
  EXPECT_THAT(counts.pools.at({kV6e, "other"}), ElementsAre(2, 0, 0, 0));
}

TEST(FleetCounts, SkipNodesWithoutTpus) {
  const auto plain = [](NodeView& node) { node.labels.clear(); };
  EXPECT_THAT(count(nodes_of({a_pool("cpu").each(plain)})).pools, IsEmpty());
}

TEST(FleetMetrics, AreWrittenAsTheyAre) {
  runtime::PodStore pods(kPods);
  runtime::NodeStore nodes(kNodes);
  const runtime::PodStores stores({&pods});
  const FleetMetrics metrics(stores, nodes, slice::Indexes(stores), kGkePool);
  for (const NodePtr& node : nodes_of({pool("a"), pool("b")})) nodes.put(*node);
  for (const PodPtr& pod : a_slice("train").hosts(4).runs_in("a").pods()) pods.put(*pod);
  for (const PodPtr& pod : a_slice("next").created(100s).pods()) pods.put(*pod);
  std::string text;
  SeriesWriter out(text);
  metrics.write(out, after(160s));
  EXPECT_THAT(text,
              HasSubstr("tpuslice_node_pools{accelerator=\"tpu-v6e-slice\",topology=\"4x4\",state=\"in_use\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("tpuslice_node_pools{accelerator=\"tpu-v6e-slice\",topology=\"4x4\",state=\"broken\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("tpuslice_chips{accelerator=\"tpu-v6e-slice\",state=\"free\"} 16\n"));
  EXPECT_THAT(text, HasSubstr("tpuslice_oldest_wait_seconds{accelerator=\"tpu-v6e-slice\"} 60\n"));
  EXPECT_THAT(text, HasSubstr("tpuslice_oldest_wait_seconds{accelerator=\"tpu-v4-podslice\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("train"))) << "no name of a tenant";
}

}  // namespace
}  // namespace tpuslice::placement
