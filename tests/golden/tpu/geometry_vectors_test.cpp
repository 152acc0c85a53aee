// What GKE's device plugin answers for a node's labels and a container's request, case by case.
//
// Sources: "dp" ai-on-gke/tpu-device-plugin pkg/tpu/util/util_test.go; "dra" dra-driver-google-tpu's tests; "gce" the
// environment of a v4-256 on Compute Engine; "xpk" its system characteristics; "dyn" GKE's dynamic slicing; "formula"
// follows from the plugin's source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tpu/device_env.h"
#include "tpu/geometry.h"

namespace tpuslice::tpu {
namespace {

constexpr const char* kNone = "<absent>";
constexpr const char* kFalse = "false,false,false";
constexpr const char* kTrue = "true,true,true";

struct Vector {
  int number;
  const char* source;
  DeviceRequest request;
  const char* type;
  const char* host_bounds;
  const char* chips_per_host;
  const char* wrap;
  std::map<std::string, std::string> others = {};  ///< Further variables; kNone: must be absent.
};

std::map<std::string, std::string> env_map(const DeviceRequest& request) {
  std::map<std::string, std::string> values;
  const auto env = device_env(request);
  EXPECT_TRUE(env.ok());
  for (const EnvVar& variable : *env) values[variable.name] = variable.value;
  return values;
}

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? kNone : found->second;
}

class GeometryVector : public ::testing::TestWithParam<Vector> {};

TEST_P(GeometryVector, MatchesTheDevicePlugin) {
  const Vector& vector = GetParam();
  SCOPED_TRACE(fmt::format("vector {} ({})", vector.number, vector.source));
  const auto values = env_map(vector.request);
  EXPECT_EQ(value_of(values, "TPU_ACCELERATOR_TYPE"), vector.type);
  for (const char* name : {"TPU_HOST_BOUNDS", "HOST_BOUNDS"}) EXPECT_EQ(value_of(values, name), vector.host_bounds);
  for (const char* name : {"TPU_CHIPS_PER_HOST_BOUNDS", "CHIPS_PER_HOST_BOUNDS"}) {
    EXPECT_EQ(value_of(values, name), vector.chips_per_host);
  }
  for (const char* name : {"TPU_TOPOLOGY_WRAP", "WRAP"}) EXPECT_EQ(value_of(values, name), vector.wrap);
  const char* alt = vector.wrap == kNone ? kNone : "false";
  for (const char* name : {"TPU_TOPOLOGY_ALT", "ALT"}) EXPECT_EQ(value_of(values, name), alt);
  EXPECT_EQ(value_of(values, "TPU_SKIP_MDS_QUERY"), "true");
  for (const auto& [name, value] : vector.others) EXPECT_EQ(value_of(values, name), value) << name;
}

const std::map<std::string, std::string> kAlone = {{"TPU_WORKER_ID", "0"}, {"TPU_WORKER_HOSTNAMES", "localhost"}};
const std::map<std::string, std::string> kNoId = {{"TPU_WORKER_ID", kNone}, {"TPU_WORKER_HOSTNAMES", kNone}};
constexpr const char* kEightPorts = "8431,8432,8433,8434,8435,8436,8437,8438";

const std::map<std::string, std::string> kPorts8 = {{"TPU_RUNTIME_METRICS_PORTS", kEightPorts}};
const std::map<std::string, std::string> kPorts2 = {{"TPU_RUNTIME_METRICS_PORTS", "8431,8432"}};
const std::map<std::string, std::string> kPorts1 = {{"TPU_RUNTIME_METRICS_PORTS", "8431"}};
const std::map<std::string, std::string> kResilient = {{"ENABLE_ICI_RESILIENCY", "true"}};
const std::map<std::string, std::string> kNotResilient = {{"ENABLE_ICI_RESILIENCY", "false"}};
const std::map<std::string, std::string> kNoIci = {{"ENABLE_ICI_RESILIENCY", kNone}};

std::map<std::string, std::string> both(std::map<std::string, std::string> a,
                                        const std::map<std::string, std::string>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

std::vector<Vector> geometry_vectors() {
  const char* v3 = "tpu-v3-slice";
  const char* v4 = "tpu-v4-podslice";
  const char* v5e = "tpu-v5-lite-podslice";
  const char* v5p = "tpu-v5p-slice";
  const char* v6e = "tpu-v6e-slice";
  return {
      {1, "dp", {"tpu-v3-device", "2x2", "", "", 4, 4}, "v3-8", kNone, kNone, kNone, kAlone},
      {2, "dp", {v3, "4x4", "", "", 4, 4}, "v3-32", "2,2,1", "2,2,1", kFalse, kNoId},
      {3, "dp", {v3, "16x16", "", "", 4, 4}, "v3-512", "8,8,1", "2,2,1", kFalse},
      {4, "dp", {v4, "2x2x1", "", "", 4, 4}, "v4-8", "1,1,1", "2,2,1", kFalse, kAlone},
      {5, "dp", {v4, "2x2x2", "", "", 4, 4}, "v4-16", "1,1,2", "2,2,1", kFalse, kNoId},
      {6, "dp", {v4, "2x2x4", "", "", 4, 4}, "v4-32", "1,1,4", "2,2,1", kFalse},
      {7, "dp", {v4, "4x4x4", "", "", 4, 4}, "v4-128", "2,2,4", "2,2,1", kTrue, kResilient},
      {8, "dp", {v4, "4x4x4", "", "False", 4, 4}, "v4-128", "2,2,4", "2,2,1", kTrue, kNotResilient},
      {9, "gce", {v4, "4x4x8", "", "", 4, 4}, "v4-256", "2,2,8", "2,2,1", kTrue},
      {10, "dp", {v5e, "1x1", "", "", 1, 1}, "v5litepod-1", "1,1,1", "1,1,1", kFalse, both(kAlone, kPorts1)},
      {11, "dp", {v5e, "2x4", "", "", 4, 4}, "v5litepod-8", "1,2,1", "2,2,1", kFalse, kNoId},
      {12, "dp", {v5e, "2x4", "", "", 8, 8}, "v5litepod-8", "1,1,1", "2,4,1", kFalse, both(kAlone, kPorts8)},
      {13, "dp", {v5e, "4x8", "", "", 4, 4}, "v5litepod-32", "2,4,1", "2,2,1", kFalse},
      {14, "dp", {v5e, "8x16", "", "", 4, 4}, "v5litepod-128", "4,8,1", "2,2,1", "false,true,false"},
      {14, "dp", {v6e, "8x16", "", "", 4, 4}, "v6e-128", "4,8,1", "2,2,1", "false,true,false"},
      {15, "dp", {v5e, "16x16", "", "false", 4, 4}, "v5litepod-256", "8,8,1", "2,2,1", "true,true,false", kNoIci},
      {16, "dp", {v5p, "2x4x4", "", "false", 4, 4}, "v5p-64", "1,2,4", "2,2,1", kFalse, kNoIci},
      {17, "formula", {v5p, "16x16x24", "", "", 4, 4}, "v5p-12288", "8,8,24", "2,2,1", kTrue, kResilient},
      {18, "dp", {v6e, "4x4", "", "", 4, 4}, "v6e-16", "2,2,1", "2,2,1", kFalse},
      {19, "dp", {v6e, "16x16", "4x4", "", 4, 4}, "v6e-16", "2,2,1", "2,2,1", kFalse, {{"TPU_TOPOLOGY", "4x4"}}},
      {20, "dp", {v5e, "2x4", "2x2", "", 4, 4}, "v5litepod-4", "1,1,1", "2,2,1", kFalse, kAlone},
      {21, "dp", {v5e, "2x4", "2x3", "", 4, 4}, "v5litepod-8", "1,2,1", "2,2,1", kFalse, {{"TPU_TOPOLOGY", "2x4"}}},
      {22, "dp", {"tpu7x", "1x1x1", "", "", 1, 1}, "tpu7x-2", "1,1,1", "1,1,1", kFalse, both(kNoId, kPorts2)},
      {23, "dp", {"tpu7x", "2x2x1", "", "", 4, 2}, "tpu7x-8", "2,1,1", "1,2,1", kFalse, kPorts8},
      {24, "dp", {"tpu7x", "2x2x1", "", "", 4, 4}, "tpu7x-8", "1,1,1", "2,2,1", kFalse, kNoId},
      {25, "dp", {"tpu7x", "2x2x2", "", "", 4, 4}, "tpu7x-16", "1,1,2", "2,2,1", kFalse},
      {26, "formula", {"tpu7x", "2x2x2", "", "", 4, 2}, "tpu7x-16", "2,1,2", "1,2,1", kFalse},
      {27, "dp", {"tpu7x", "12x24x24", "", "", 4, 4}, "tpu7x-13824", "6,12,24", "2,2,1", kTrue, kResilient},
      {29, "dra", {v4, "8x8x8", "", "", 8, 8}, "v4-1024", "4,2,8", "2,4,1", kTrue},
      {29, "dra", {v4, "2x2x2", "", "", 1, 1}, "v4-16", "2,2,2", "1,1,1", kFalse},
      {47, "xpk", {v5p, "4x4x20", "", "", 4, 4}, "v5p-640", "2,2,20", "2,2,1", kTrue},
      {48, "dyn", {"tpu7x", "4x8x8", "", "", 4, 4}, "tpu7x-512", "2,4,8", "2,2,1", kTrue},
  };
}

INSTANTIATE_TEST_SUITE_P(Vectors, GeometryVector, ::testing::ValuesIn(geometry_vectors()));

// Vector 28. Source: dp.
TEST(GeometryVector28, IsAnError) {
  EXPECT_THAT(device_env({"tpu-v4-lite-podslice", "2x2", "", "", 4, 4}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(device_env({"tpu-v5p-lite-podslice", "2x2x1", "", "", 4, 4}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(device_env({"", "", "", "", 4, 4}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(device_env({"tpu-v6e-slice", "", "", "", 4, 4}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(device_env({"tpu-v6e-slice", "4x4", "", "", 6, 6}), IsError(ErrorCode::kInvalidArgument));
}

// The invariant of libtpu: it expects as many addresses as the product of the host bounds, which is chips / chips of a
// container. Also in vectors 26 (4 addresses), 47 (80 pods) and 48 (64 pods).
TEST(GeometryVectors, HaveAsManyProcessesAsHostBounds) {
  EXPECT_EQ(*host_count(*Topology::parse("2x2x2"), 2), 4);
  EXPECT_EQ(*host_count(*Topology::parse("4x4x20"), 4), 80);
  EXPECT_EQ(*host_count(*Topology::parse("4x8x8"), 4), 64);
  int cases = 0;
  for (const Accelerator& accelerator : accelerators()) {
    for (const Topology& topology : legal_topologies(accelerator)) {
      for (const std::int64_t chips : chips_per_host_choices(accelerator, topology)) {
        const Bounds bounds = *host_bounds(topology, chips);
        EXPECT_EQ(bounds[0] * bounds[1] * bounds[2], topology.chips() / chips);
        ++cases;
      }
    }
  }
  EXPECT_GT(cases, 1600);
}

}  // namespace
}  // namespace tpuslice::tpu
