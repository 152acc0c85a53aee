#include "api/types/object.h"

#include <gtest/gtest.h>

#include "tests/unit/api/types/sample_pod.h"

namespace tpuslice {
namespace {

TEST(Object, ReadsMetadata) {
  const Object pod(parse_json(kSamplePod).value());
  EXPECT_EQ(pod.api_version(), "v1");
  EXPECT_EQ(pod.kind(), "Pod");
  EXPECT_EQ(pod.key(), (ObjectKey{"default", "train-workers-0-1"}));
  EXPECT_EQ(pod.resource_version(), "4711");
  EXPECT_EQ(pod.generation(), 2);
  EXPECT_EQ(pod.deletion_timestamp(), parse_rfc3339("2026-01-01T01:00:00Z"));
  EXPECT_EQ(pod.label("ray.io/cluster"), "train");
  EXPECT_EQ(pod.annotation("tpuslice.dev/slice-hosts"), "4");
  EXPECT_EQ(pod.controller()->uid, "u1");
  EXPECT_EQ(pod.as_controller(), (ControllerRef{"v1", "Pod", "train-workers-0-1", pod.uid()}));
}

TEST(Object, ReturnsEmptyValuesForAbsentOrIllTypedFields) {
  for (const char* text :
       {"{}", "null", "[]", R"({"metadata":3})",
        R"({"metadata":{"name":1,"labels":[],"generation":"x","deletionTimestamp":"x","ownerReferences":{}}})",
        R"({"metadata":{"ownerReferences":[1,{"controller":"yes"}]}})"}) {
    const Object object(parse_json(text).value());
    EXPECT_EQ(object.name(), "") << text;
    EXPECT_EQ(object.label("a"), "");
    EXPECT_EQ(object.generation(), 0);
    EXPECT_EQ(object.deletion_timestamp(), std::nullopt);
    EXPECT_EQ(object.controller(), std::nullopt);
  }
}

TEST(ControllerRef, PrintsAnOwnerReference) {
  const ControllerRef owner{"ray.io/v1", "RayCluster", "train", "u1"};
  EXPECT_EQ(
      owner.to_json().dump(),
      R"({"apiVersion":"ray.io/v1","blockOwnerDeletion":true,"controller":true,"kind":"RayCluster","name":"train","uid":"u1"})");
  EXPECT_FALSE(owner.to_json(false).contains("blockOwnerDeletion"));
}

TEST(ObjectKey, PrintsItsNamespaceIfItHasOne) {
  EXPECT_EQ((ObjectKey{"default", "a"}).to_string(), "default/a");
  EXPECT_EQ((ObjectKey{"", "node-1"}).to_string(), "node-1");
}

TEST(ResourceType, BuildsPaths) {
  constexpr ResourceType kRay{"ray.io", "v1", "RayCluster", "rayclusters"};
  EXPECT_EQ(kRay.api_version(), "ray.io/v1");
  EXPECT_EQ(kRay.resource(), "rayclusters.ray.io");
  EXPECT_EQ(kPods.resource(), "pods");
  EXPECT_EQ(kPods.path(""), "/api/v1/pods");
  EXPECT_EQ(kPods.path("default", "a"), "/api/v1/namespaces/default/pods/a");
  EXPECT_EQ(kRay.path("default", "train", "status"), "/apis/ray.io/v1/namespaces/default/rayclusters/train/status");
  EXPECT_EQ(kNodes.path("ignored", "node-1"), "/api/v1/nodes/node-1");
}

}  // namespace
}  // namespace tpuslice
