#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::sim {
namespace {

using ::testing::HasSubstr;

Json one_pool(const Json& pool) { return {{"pools", Json::array({pool})}}; }

TEST(NodePools, DeriveHostsAndChipsFromTopologyAndMachine) {
  const auto pools = parse_node_pools(one_pool(
      {{"name", "a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "2x4"}, {"machineType", "ct6e-standard-4t"}}));
  ASSERT_TRUE(pools.ok()) << pools.error().message();
  EXPECT_EQ(pools->front().hosts, 2);
  EXPECT_EQ(pools->front().chips_per_host, 4);
}

TEST(NodePools, DeriveSingleHostOrMultiHostFromTheMachineType) {
  const auto pools = parse_node_pools(one_pool(
      {{"name", "a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "2x4"}, {"machineType", "ct6e-standard-8t"}}));
  ASSERT_TRUE(pools.ok()) << pools.error().message();
  EXPECT_EQ(pools->front().hosts, 1);
  EXPECT_EQ(pools->front().chips_per_host, 8);
}

TEST(NodePools, HaveTheCpuAndMemoryOfTheMachineType) {
  const auto size_of = [](const std::string& accelerator, const std::string& topology, const std::string& machine) {
    const auto pools = parse_node_pools(
        one_pool({{"name", "a"}, {"accelerator", accelerator}, {"topology", topology}, {"machineType", machine}}));
    return pools.ok() ? pools->front().cpu + " " + pools->front().memory : pools.error().message();
  };
  EXPECT_EQ(size_of("tpu-v6e-slice", "1x1", "ct6e-standard-1t"), "44 176Gi");
  EXPECT_EQ(size_of("tpu-v6e-slice", "4x4", "ct6e-standard-4t"), "180 720Gi");
  EXPECT_EQ(size_of("tpu-v6e-slice", "2x4", "ct6e-standard-8t"), "180 1440Gi");
  EXPECT_EQ(size_of("tpu-v5-lite-podslice", "2x4", "ct5lp-hightpu-8t"), "224 384Gi");
  EXPECT_EQ(size_of("tpu-v6e-slice", "4x4", "ct6e-standard-2t"),
            "pools[0].cpu: null should be given, as it is not known of ct6e-standard-2t");
}

TEST(NodePools, OfAnUnknownMachineTypeSayTheirCpuAndMemory) {
  const auto pools = parse_node_pools(one_pool({{"name", "a"},
                                                {"accelerator", "tpu-v6e-slice"},
                                                {"topology", "4x4"},
                                                {"machineType", "ct6e-standard-2t"},
                                                {"cpu", 90},
                                                {"memory", "360Gi"}}));
  ASSERT_TRUE(pools.ok()) << pools.error().message();
  EXPECT_EQ(pools->front().hosts, 8);
  EXPECT_EQ(pools->front().cpu, "90");
}

struct Refused {
  const char* title;
  Json config;
  const char* message;
};

class NodePoolsRefuse : public ::testing::TestWithParam<Refused> {};

TEST_P(NodePoolsRefuse, WithThePathOfTheField) {
  const auto pools = parse_node_pools(GetParam().config);
  EXPECT_THAT(pools, IsError(ErrorCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, NodePoolsRefuse,
    ::testing::Values(
        Refused{"NoList", Json::object(), "pools: should be a list"},
        Refused{"NoName", one_pool({{"hosts", 1}}), "pools[0].name"},
        Refused{"UnknownField", one_pool({{"name", "a"}, {"host", 1}}), "pools[0].host: unknown field"},
        Refused{"WrongHosts",
                one_pool({{"name", "a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}, {"hosts", 2}}),
                "pools[0].hosts: 2 should be 4"},
        Refused{"UnknownAccelerator", one_pool({{"name", "a"}, {"accelerator", "tpu-v6e-device"}, {"topology", "4x4"}}),
                "pools[0].accelerator: \"tpu-v6e-device\" should be one of"},
        Refused{"WrongMachine",
                one_pool({{"name", "a"},
                          {"accelerator", "tpu-v6e-slice"},
                          {"topology", "4x4"},
                          {"machineType", "ct5p-hightpu-4t"}}),
                "pools[0].machineType"},
        Refused{"BadTopology", one_pool({{"name", "a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4xx4"}}),
                "pools[0].topology: \"4xx4\" should be like 4x4"},
        Refused{"BadQuantity", one_pool({{"name", "a"}, {"cpu", "many"}}),
                "pools[0].cpu: \"many\" should be a quantity"},
        Refused{"SameName",
                {{"pools", Json::array({Json{{"name", "a"}}, Json{{"name", "a"}}})}},
                "pools[1].name: \"a\" is the name of an earlier pool"}),
    [](const auto& test) { return std::string(test.param.title); });

TEST(NodePools, MakeNodesAsGkeLabelsAndTaintsThem) {
  const NodePool pool = default_node_pools().front();
  const Json node = make_node(pool, 2, 5, "2026-01-01T00:00:00Z");
  const Json& labels = node["metadata"]["labels"];
  EXPECT_EQ(labels["cloud.google.com/gke-nodepool"], "v6e-4x4-a");
  EXPECT_EQ(labels["cloud.google.com/gke-tpu-accelerator"], "tpu-v6e-slice");
  EXPECT_EQ(labels["cloud.google.com/gke-tpu-topology"], "4x4");
  EXPECT_EQ(labels["cloud.google.com/gke-accelerator-count"], "4");
  EXPECT_EQ(labels["kubernetes.io/hostname"], "v6e-4x4-a-2");
  EXPECT_EQ(labels["node.kubernetes.io/instance-type"], "ct6e-standard-4t");
  EXPECT_EQ(node["spec"]["taints"][0],
            (Json{{"key", "google.com/tpu"}, {"value", "present"}, {"effect", "NoSchedule"}}));
  EXPECT_EQ(node["status"]["allocatable"]["google.com/tpu"], "4");
}

TEST(NodePools, DefaultToThreeSlicesAndThreeCpuNodes) {
  int hosts = 0;
  for (const NodePool& pool : default_node_pools()) hosts += pool.hosts;
  EXPECT_EQ(hosts, 4 + 4 + 8 + 3);
}

}  // namespace
}  // namespace tpuslice::sim
