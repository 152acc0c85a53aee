#include "tpu/catalog.h"
#include "tests/support/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using testing::accelerator;
using testing::shape;

TEST(Catalog, KnowsTheAcceleratorsOfEveryGeneration) {
  for (const std::string_view label : {"tpu-v3-device", "tpu-v3-slice", "tpu-v4-podslice", "tpu-v5-lite-device",
                                       "tpu-v5-lite-podslice", "tpu-v5p-slice", "tpu-v6e-slice", "tpu7x"}) {
    EXPECT_TRUE(find_accelerator(label).ok()) << label;
  }
}

// Source: ai-on-gke/tpu-device-plugin rejects these labels.
TEST(Catalog, RefusesUnknownLabelsAndListsTheKnownOnes) {
  for (const std::string_view label :
       {"", "tpu-v6e-device", "tpu-v4-lite-podslice", "tpu-v5p-lite-podslice", "TPU7X"}) {
    const auto found = find_accelerator(label);
    EXPECT_THAT(found, IsError(ErrorCode::kInvalidArgument, HasSubstr("tpu-v6e-slice"))) << label;
  }
}

struct Case {
  std::string_view label;
  std::string_view topology;
  bool legal;
};
class CheckTopology : public ::testing::TestWithParam<Case> {};

TEST_P(CheckTopology, FollowsTheRulesOfTheGeneration) {
  const Case& c = GetParam();
  EXPECT_EQ(check_topology(accelerator(c.label), shape(c.topology)).ok(), c.legal) << c.label << " " << c.topology;
}

// Source: GKE topology tables and xpk's generator.
INSTANTIATE_TEST_SUITE_P(
    Tables, CheckTopology,
    ::testing::Values(Case{"tpu-v6e-slice", "4x4", true}, Case{"tpu-v6e-slice", "16x16", true},
                      Case{"tpu-v6e-slice", "2x8", false}, Case{"tpu-v6e-slice", "8x4", false},
                      Case{"tpu-v6e-slice", "16x32", false}, Case{"tpu-v6e-slice", "4x4x4", false},
                      Case{"tpu-v5-lite-device", "2x4", true}, Case{"tpu-v5-lite-device", "4x4", false},
                      Case{"tpu-v3-slice", "16x32", true}, Case{"tpu-v3-device", "4x4", false},
                      Case{"tpu-v4-podslice", "2x2x1", true}, Case{"tpu-v4-podslice", "2x2x2", true},
                      Case{"tpu-v4-podslice", "1x1x1", false}, Case{"tpu-v4-podslice", "2x4x2", false},
                      Case{"tpu-v4-podslice", "2x2x8", false}, Case{"tpu-v4-podslice", "8x4x4", true},
                      Case{"tpu-v4-podslice", "16x16x16", true}, Case{"tpu-v4-podslice", "16x16x20", false},
                      Case{"tpu-v5p-slice", "16x16x24", true}, Case{"tpu-v5p-slice", "8x4x4", false},
                      Case{"tpu-v5p-slice", "4x4x6", false}, Case{"tpu-v5p-slice", "16x20x28", true},
                      Case{"tpu-v5p-slice", "20x20x24", false}, Case{"tpu7x", "1x1x1", true},
                      Case{"tpu7x", "12x24x24", true}, Case{"tpu7x", "4x2x1", false}, Case{"tpu7x", "16x24x24", true},
                      Case{"tpu7x", "20x24x24", false}, Case{"tpu7", "4x8x8", true}, Case{"tpu7", "8x8x8", false}));

// Source: executing xpk's generator gives 800, 414, 432 and 9 shapes for v4, v5p, tpu7x and tpu7; it leaves out 1x1x1,
// the one-chip machines of the last two.
TEST(LegalTopologies, AreAsManyAsXpkGenerates) {
  EXPECT_EQ(legal_topologies(accelerator("tpu-v4-podslice")).size(), 800U);
  EXPECT_EQ(legal_topologies(accelerator("tpu-v5p-slice")).size(), 414U);
  EXPECT_EQ(legal_topologies(accelerator("tpu7x")).size(), 432U + 1);
  EXPECT_EQ(legal_topologies(accelerator("tpu7")).size(), 9U + 1);
}

// The same by trying every shape there could be.
TEST(LegalTopologies, AreThoseThatPassTheCheck) {
  std::vector<std::int64_t> edges = {1, 2, 3};
  for (std::int64_t edge = 4; edge <= 280; edge += 4) edges.push_back(edge);
  for (const Accelerator& a : accelerators()) {
    std::size_t legal = 0;
    for (const std::int64_t x : edges) {
      for (const std::int64_t y : edges) {
        if (check_topology(a, Topology::of(x, y)).ok()) ++legal;
        for (const std::int64_t z : edges) {
          if (a.rank == 3 && x * y * z <= a.max_chips && check_topology(a, Topology::of({x, y, z})).ok()) ++legal;
        }
      }
    }
    EXPECT_EQ(legal_topologies(a).size(), legal) << a.label;
  }
}

// Source: GKE topology tables.
TEST(LegalTopologies, Of2DSlicesMatchTheTables) {
  const auto texts = [](std::string_view label) {
    std::vector<std::string> shapes;
    for (const Topology& topology : legal_topologies(accelerator(label))) shapes.push_back(topology.to_string());
    return shapes;
  };
  EXPECT_THAT(texts("tpu-v6e-slice"), ElementsAre("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"));
  EXPECT_EQ(texts("tpu-v5-lite-podslice"), texts("tpu-v6e-slice"));
  EXPECT_THAT(texts("tpu-v5-lite-device"), ElementsAre("1x1", "2x2", "2x4"));
  EXPECT_THAT(texts("tpu-v3-slice"), ElementsAre("4x4", "4x8", "8x8", "8x16", "16x16", "16x32", "32x32"));
  EXPECT_THAT(texts("tpu-v3-device"), ElementsAre("2x2"));
  EXPECT_THAT(texts("tpu-v4-lite-device"), ElementsAre("2x2"));
}

TEST(CheckTopology, NamesTheRightOrder) {
  EXPECT_THAT(check_topology(accelerator("tpu-v5p-slice"), shape("8x4x4")).error().message(), HasSubstr("4x4x8"));
}

TEST(ChipsPerHost, DependOnTheMachineIfTheTopologyAllowsSeveral) {
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu-v6e-slice"), shape("2x4")), ElementsAre(8, 4));
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu-v5-lite-device"), shape("2x4")), ElementsAre(8));
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu-v6e-slice"), shape("1x1")), ElementsAre(1));
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu-v6e-slice"), shape("2x2")), ElementsAre(4));
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu-v6e-slice"), shape("4x4")), ElementsAre(4));
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu7x"), shape("2x2x1")), ElementsAre(4));
  EXPECT_THAT(chips_per_host_choices(accelerator("tpu7x"), shape("1x1x1")), ElementsAre(1));
  EXPECT_EQ(default_chips_per_host(accelerator("tpu-v6e-slice"), shape("2x4")), 8);
}

// Source: GKE topology tables.
TEST(HostCount, IsChipsDividedByChipsPerHost) {
  const std::vector<std::tuple<std::string_view, int, int>> table = {
      {"16x16", 4, 64}, {"8x16", 4, 32},   {"8x8", 4, 16},    {"4x8", 4, 8},    {"4x4", 4, 4},        {"2x4", 4, 2},
      {"2x4", 8, 1},    {"2x2x1", 4, 1},   {"2x2x2", 4, 2},   {"2x2x4", 4, 4},  {"2x4x4", 4, 8},      {"4x4x4", 4, 16},
      {"4x4x8", 4, 32}, {"8x8x8", 4, 128}, {"4x4x20", 4, 80}, {"4x8x8", 4, 64}, {"12x24x24", 4, 1728}};
  for (const auto& [topology, chips, hosts] : table) {
    const auto count = host_count(shape(topology), chips);
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(*count, hosts) << topology;
  }
}

TEST(HostCount, RefusesChipsThatDoNotDivide) {
  EXPECT_THAT(host_count(shape("2x2"), 8), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(host_count(shape("4x4"), 3), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(host_count(shape("4x4"), 0), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(host_count(shape("4x4"), -4), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(host_count(shape("9999x9999x9999"), 1), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::tpu
