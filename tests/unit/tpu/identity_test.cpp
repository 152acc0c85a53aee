#include "tpu/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/pods.h"

namespace tpuslice::tpu {
namespace {

using ::testing::HasSubstr;
using testing::RayPod;

std::string error_of(const Json& pod) {
  const auto identity = identify_ray_worker(pod);
  return identity.ok() ? "" : identity.error().message();
}

TEST(RayIdentity, ComesFromLabelsSelectorAndRequests) {
  const auto found = identify_ray_worker(RayPod{.replica = 1, .host = 2}.json());
  ASSERT_TRUE(found.ok() && found->has_value());
  const SliceIdentity& identity = **found;
  EXPECT_EQ(identity.slice_name, "g-1");
  EXPECT_EQ(identity.hosts, 4);
  EXPECT_EQ(identity.hostname(2), "g-1-2");
  EXPECT_EQ(identity.address(3), "g-1-3.rc-headless");
  EXPECT_EQ(identity.worker_id(0), 2);
}

TEST(RayIdentity, NumbersTheContainersOfATpu7xHost) {
  const auto found =
      identify_ray_worker(RayPod{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}, .host = 1}.json());
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->hosts, 2);
  EXPECT_EQ((*found)->worker_id(0), 2);
  EXPECT_EQ((*found)->worker_id(1), 3);
}

TEST(RayIdentity, IsNoneForPodsThatAreNotNumberedTpuWorkers) {
  Json pod = RayPod{}.json();
  pod["metadata"]["labels"].erase("ray.io/worker-group-replica-index");
  EXPECT_FALSE(identify_ray_worker(pod)->has_value());
  pod = RayPod{}.json();
  pod["metadata"].erase("labels");
  EXPECT_FALSE(identify_ray_worker(pod)->has_value());
  pod = RayPod{.chips = {0}}.json();
  EXPECT_FALSE(identify_ray_worker(pod)->has_value());
  EXPECT_FALSE(identify_ray_worker(Json())->has_value());
}

TEST(RayIdentity, NeedsNoHostIndexInASliceOfOneHost) {
  Json pod = RayPod{.topology = "2x4", .chips = {8}}.json();
  pod["metadata"]["labels"].erase("ray.io/replica-host-index");
  const auto found = identify_ray_worker(pod);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_FALSE((*found)->multi_host());
}

TEST(RayIdentity, SaysHowManyHostsThereAreWhenAnIndexIsMissingOrBeyond) {
  Json pod = RayPod{}.json();
  pod["metadata"]["labels"].erase("ray.io/replica-host-index");
  EXPECT_THAT(error_of(pod), HasSubstr("set numOfHosts: 4"));
  EXPECT_EQ(error_of(RayPod{.host = 4}.json()),
            "metadata.labels[ray.io/replica-host-index]: Invalid value: \"4\": topology 4x4 has 16 chips; with 4 chips "
            "per host that is 4 hosts, set numOfHosts: 4");
}

TEST(RayIdentity, RefusesIndexesThatAreNoNumbers) {
  for (const char* text : {"x", "-1", "1x", "99999999999", " 1"}) {
    Json pod = RayPod{}.json();
    pod["metadata"]["labels"]["ray.io/worker-group-replica-index"] = text;
    EXPECT_THAT(error_of(pod), HasSubstr("metadata.labels[ray.io/worker-group-replica-index]")) << text;
  }
}

TEST(RayIdentity, NamesTheSelectorThatIsMissingOrWrong) {
  EXPECT_THAT(error_of(RayPod{.accelerator = ""}.json()),
              HasSubstr("spec.nodeSelector[cloud.google.com/gke-tpu-accelerator]: Required value"));
  EXPECT_THAT(error_of(RayPod{.topology = ""}.json()),
              HasSubstr("spec.nodeSelector[cloud.google.com/gke-tpu-topology]: Required value"));
  EXPECT_THAT(error_of(RayPod{.accelerator = "tpu-v9"}.json()), HasSubstr("\"tpu-v9\" is unknown"));
  EXPECT_THAT(error_of(RayPod{.topology = "4x5"}.json()), HasSubstr("does not exist for tpu-v6e-slice"));
}

TEST(RayIdentity, RefusesAnOldHostSplitAmongContainers) {
  EXPECT_THAT(error_of(RayPod{.chips = {2, 2}}.json()), HasSubstr("one container must ask for all 4 chips"));
  EXPECT_THAT(error_of(RayPod{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {1, 3}}.json()),
              HasSubstr("same number of chips"));
  EXPECT_THAT(error_of(RayPod{.topology = "2x2", .chips = {8}}.json()), HasSubstr("do not divide"));
}

TEST(RayIdentity, TakesTheTopologyOfADynamicSliceFromItsAnnotation) {
  Json pod = RayPod{.accelerator = "tpu7x", .topology = ""}.json();
  pod["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = "4x8x8";
  const auto found = identify_ray_worker(pod);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->hosts, 64);
}

}  // namespace
}  // namespace tpuslice::tpu
