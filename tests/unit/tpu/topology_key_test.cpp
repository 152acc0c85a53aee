#include "tpu/topology_key.h"

#include <ostream>

#include <gtest/gtest.h>

#include "tests/support/pods.h"

namespace tpuslice::tpu {
namespace {

struct KeyCase {
  const char* name;
  const char* accelerator;
  const char* topology;    ///< Of the node selector.
  const char* annotation;  ///< gke-tpu-slice-topology
  const char* slice;       ///< Of the node selector.
  const char* key;
};

void PrintTo(const KeyCase& each, std::ostream* out) { *out << each.name; }

class GkeTopologyKey : public ::testing::TestWithParam<KeyCase> {};

TEST_P(GkeTopologyKey, FollowsFromTheSelectorAndTheAnnotation) {
  const KeyCase& each = GetParam();
  Json pod = testing::pod_of({.accelerator = each.accelerator, .topology = each.topology}, "p");
  if (*each.annotation != 0)
    pod["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = each.annotation;
  if (*each.slice != 0) pod["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-slice"] = each.slice;
  EXPECT_EQ(gke_topology_key(pod), each.key);
  EXPECT_TRUE(*each.key == 0 || is_gke_topology_key(each.key));
}

constexpr const char* kSlice = "cloud.google.com/gke-tpu-slice";

INSTANTIATE_TEST_SUITE_P(
    All, GkeTopologyKey,
    ::testing::Values(
        KeyCase{"NodePool", "tpu-v6e-slice", "4x4", "", "", ""},
        KeyCase{"WholeNodePool", "tpu-v6e-slice", "4x4", "4x4", "", ""},
        KeyCase{"PartOfNodePool", "tpu-v6e-slice", "16x16", "4x4", "", "cloud.google.com/gke-tpu-slice-4x4-id"},
        KeyCase{"PartOfV5e", "tpu-v5-lite-podslice", "8x16", "2x4", "", "cloud.google.com/gke-tpu-slice-2x4-id"},
        KeyCase{"PartOfV4", "tpu-v4-podslice", "4x4x8", "2x2x2", "", "cloud.google.com/gke-tpu-slice-2x2x2-id"},
        KeyCase{"PartOfAnyNodePool", "tpu-v5p-slice", "", "2x2x4", "", "cloud.google.com/gke-tpu-slice-2x2x4-id"},
        KeyCase{"LargerThanNodePool", "tpu-v6e-slice", "4x4", "8x8", "", ""},
        KeyCase{"NoTopology", "tpu-v6e-slice", "16x16", "4x5", "", ""},
        KeyCase{"MalformedAnnotation", "tpu-v6e-slice", "16x16", "four", "", ""},
        KeyCase{"PartOfCube", "tpu7x", "4x4x4", "2x2x2", "", "cloud.google.com/gke-tpu-partition-2x2x2-id"},
        KeyCase{"AnyCube", "tpu7x", "", "4x4x4", "", "cloud.google.com/gke-tpu-partition-4x4x4-id"},
        KeyCase{"SeveralCubes", "tpu7x", "", "4x8x8", "", kSlice},
        KeyCase{"SeveralCubesOfNodePools", "tpu7x", "4x4x4", "4x8x8", "", kSlice},
        KeyCase{"NamedSlice", "tpu7x", "4x4x4", "4x4x4", "slice-a", kSlice},
        KeyCase{"NamedSliceWithoutAnnotation", "tpu7x", "4x4x4", "", "slice-a", kSlice},
        KeyCase{"UnknownAccelerator", "tpu-v9-slice", "4x4", "2x2", "", ""}),
    [](const auto& each) { return each.param.name; });

TEST(IsGkeTopologyKey, RefusesOtherLabels) {
  for (const char* key :
       {"", "cloud.google.com/gke-nodepool", "cloud.google.com/gke-tpu-slice-id", "cloud.google.com/gke-tpu-slice--id",
        "cloud.google.com/gke-tpu-slice-4x4", "cloud.google.com/gke-tpu-slice-four-id",
        "cloud.google.com/gke-tpu-partition-4x4x4-state", "example.com/gke-tpu-slice-4x4-id"}) {
    EXPECT_FALSE(is_gke_topology_key(key)) << key;
  }
}

}  // namespace
}  // namespace tpuslice::tpu
