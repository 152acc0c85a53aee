#include "tpu/geometry.h"
#include "tests/support/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::tpu {
namespace {

using testing::accelerator;
using testing::shape;

struct Vector {
  std::string_view label;
  std::string_view topology;
  std::int64_t chips;  ///< Of the container.
  std::string_view type;
  std::string_view host_bounds;
  std::string_view chips_bounds;
  std::string_view wrap;
};
class GeometryVector : public ::testing::TestWithParam<Vector> {};

TEST_P(GeometryVector, MatchesTheDevicePlugin) {
  const Vector& v = GetParam();
  const Accelerator& a = accelerator(v.label);
  const Topology topology = shape(v.topology);
  EXPECT_EQ(*accelerator_type(a, topology), v.type);
  EXPECT_EQ(to_string(*host_bounds(topology, v.chips)), v.host_bounds);
  EXPECT_EQ(to_string(*chips_per_host_bounds(v.chips)), v.chips_bounds);
  EXPECT_EQ(topology_wrap(a, topology), v.wrap);
}

constexpr std::string_view kF = "false,false,false";
constexpr std::string_view kT = "true,true,true";
// Source: ai-on-gke/tpu-device-plugin pkg/tpu/util/util_test.go; 16x16x24 and 2x2x2 with two containers derived.
INSTANTIATE_TEST_SUITE_P(
    DevicePlugin, GeometryVector,
    ::testing::Values(Vector{"tpu-v3-slice", "4x4", 4, "v3-32", "2,2,1", "2,2,1", kF},
                      Vector{"tpu-v3-slice", "16x16", 4, "v3-512", "8,8,1", "2,2,1", kF},
                      Vector{"tpu-v4-podslice", "2x2x1", 4, "v4-8", "1,1,1", "2,2,1", kF},
                      Vector{"tpu-v4-podslice", "2x2x2", 4, "v4-16", "1,1,2", "2,2,1", kF},
                      Vector{"tpu-v4-podslice", "2x2x4", 4, "v4-32", "1,1,4", "2,2,1", kF},
                      Vector{"tpu-v4-podslice", "4x4x4", 4, "v4-128", "2,2,4", "2,2,1", kT},
                      Vector{"tpu-v4-podslice", "4x4x8", 4, "v4-256", "2,2,8", "2,2,1", kT},
                      Vector{"tpu-v5-lite-podslice", "1x1", 1, "v5litepod-1", "1,1,1", "1,1,1", kF},
                      Vector{"tpu-v5-lite-podslice", "2x4", 4, "v5litepod-8", "1,2,1", "2,2,1", kF},
                      Vector{"tpu-v5-lite-podslice", "2x4", 8, "v5litepod-8", "1,1,1", "2,4,1", kF},
                      Vector{"tpu-v5-lite-podslice", "4x8", 4, "v5litepod-32", "2,4,1", "2,2,1", kF},
                      Vector{"tpu-v5-lite-podslice", "8x16", 4, "v5litepod-128", "4,8,1", "2,2,1", "false,true,false"},
                      Vector{"tpu-v6e-slice", "8x16", 4, "v6e-128", "4,8,1", "2,2,1", "false,true,false"},
                      Vector{"tpu-v5-lite-podslice", "16x16", 4, "v5litepod-256", "8,8,1", "2,2,1", "true,true,false"},
                      Vector{"tpu-v5p-slice", "2x4x4", 4, "v5p-64", "1,2,4", "2,2,1", kF},
                      Vector{"tpu-v5p-slice", "16x16x24", 4, "v5p-12288", "8,8,24", "2,2,1", kT},
                      Vector{"tpu-v5p-slice", "4x4x20", 4, "v5p-640", "2,2,20", "2,2,1", kT},
                      Vector{"tpu-v6e-slice", "4x4", 4, "v6e-16", "2,2,1", "2,2,1", kF},
                      Vector{"tpu7x", "1x1x1", 1, "tpu7x-2", "1,1,1", "1,1,1", kF},
                      Vector{"tpu7x", "2x2x1", 2, "tpu7x-8", "2,1,1", "1,2,1", kF},
                      Vector{"tpu7x", "2x2x1", 4, "tpu7x-8", "1,1,1", "2,2,1", kF},
                      Vector{"tpu7x", "2x2x2", 4, "tpu7x-16", "1,1,2", "2,2,1", kF},
                      Vector{"tpu7x", "2x2x2", 2, "tpu7x-16", "2,1,2", "1,2,1", kF},
                      Vector{"tpu7x", "12x24x24", 4, "tpu7x-13824", "6,12,24", "2,2,1", kT}));

// Source: dra-driver-google-tpu tests.
TEST(HostBounds, DivideAnyTopology) {
  EXPECT_EQ(to_string(*host_bounds(shape("8x8x8"), 8)), "4,2,8");
  EXPECT_EQ(to_string(*host_bounds(shape("2x2x2"), 1)), "2,2,2");
}

TEST(HostBounds, RefuseTopologiesThatDoNotDivide) {
  EXPECT_THAT(chips_per_host_bounds(6), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(host_bounds(shape("2x2"), 8), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(host_bounds(shape("1x1"), 4), IsError(ErrorCode::kInvalidArgument));
}

TEST(AcceleratorType, IsUnknownForLiteDevices) {
  EXPECT_THAT(accelerator_type(accelerator("tpu-v5-lite-device"), shape("2x4")), IsError(ErrorCode::kInvalidArgument));
}

// Source: device plugin tests for the annotation cloud.google.com/gke-tpu-slice-topology.
TEST(EffectiveTopology, IsTheAnnotationIfItIsAValidShapeThatFits) {
  const Accelerator& v6e = accelerator("tpu-v6e-slice");
  const Accelerator& v5e = accelerator("tpu-v5-lite-podslice");
  EXPECT_EQ(effective_topology(v6e, shape("16x16"), "4x4"), shape("4x4"));
  EXPECT_EQ(effective_topology(v5e, shape("2x4"), "2x2"), shape("2x2"));
  EXPECT_EQ(effective_topology(v5e, shape("2x4"), "2x3"), shape("2x4"));
  EXPECT_EQ(effective_topology(v5e, shape("2x4"), "4x4"), shape("2x4"));
  EXPECT_EQ(effective_topology(v5e, shape("2x4"), "2x2x1"), shape("2x4"));
  EXPECT_EQ(effective_topology(v5e, shape("2x4"), ""), shape("2x4"));
}

TEST(HostBounds, MultiplyToTheNumberOfHostsForEveryLegalShape) {
  int shapes = 0;
  for (const Accelerator& a : accelerators()) {
    for (const Topology& topology : legal_topologies(a)) {
      for (const std::int64_t chips : chips_per_host_choices(a, topology)) {
        const Bounds bounds = *host_bounds(topology, chips);
        EXPECT_EQ(bounds[0] * bounds[1] * bounds[2], *host_count(topology, chips))
            << a.label << " " << topology.to_string();
        ++shapes;
      }
    }
  }
  EXPECT_GT(shapes, 1600);
}

}  // namespace
}  // namespace tpuslice::tpu
