#include "controllers/raycluster/rules/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::raycluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Json kCluster = Json::parse(R"({
  "apiVersion": "ray.io/v1", "kind": "RayCluster",
  "metadata": {"name": "train", "namespace": "ml", "uid": "u1"},
  "spec": {
    "headGroupSpec": {"rayStartParams": {"port": "6380", "num-cpus": 0},
                      "template": {"spec": {"containers": [{"name": "ray-head"}]}}},
    "workerGroupSpecs": [
      {"groupName": "tpu", "replicas": 5, "minReplicas": 1, "maxReplicas": 2, "numOfHosts": 4,
       "scaleStrategy": {"workersToDelete": ["train-tpu-worker-0"]}},
      {"groupName": "cpu", "minReplicas": 3, "suspend": true}
    ]}})");

TEST(RayClusterSpec, HasTheFieldsOfTheCluster) {
  const RayClusterSpec spec = RayClusterSpec::read(kCluster);
  EXPECT_EQ(spec.key, (ObjectKey{"ml", "train"}));
  EXPECT_EQ(spec.owner, (ControllerRef{"ray.io/v1", "RayCluster", "train", "u1"}));
  EXPECT_EQ(spec.creator, "RayCluster");
  EXPECT_EQ(spec.head.ray_container(), "ray-head");
  EXPECT_EQ(spec.head.port(), "6380");
  EXPECT_EQ(spec.head.ray_start_params.at("num-cpus"), "0");
  ASSERT_THAT(spec.groups, SizeIs(2));
  EXPECT_EQ(spec.group("tpu")->hosts, 4);
  EXPECT_THAT(spec.group("tpu")->workers_to_delete, ElementsAre("train-tpu-worker-0"));
  EXPECT_EQ(spec.group("gpu"), nullptr);
}

TEST(RayClusterSpec, BoundsReplicasAndHasNoneWhileTheGroupIsSuspended) {
  const RayClusterSpec spec = RayClusterSpec::read(kCluster);
  EXPECT_EQ(spec.groups[0].replicas, 5);
  EXPECT_EQ(spec.groups[0].bounded_replicas(), 2);
  EXPECT_EQ(spec.groups[0].desired_replicas(), 2);
  EXPECT_EQ(spec.groups[1].bounded_replicas(), 3) << "replicas defaults to minReplicas";
  EXPECT_EQ(spec.groups[1].desired_replicas(), 0);
}

TEST(RayClusterSpec, IsManagedByAnotherControllerIfManagedBySaysSo) {
  Json cluster = kCluster;
  EXPECT_FALSE(RayClusterSpec::read(cluster).managed_by_other());
  cluster["spec"]["managedBy"] = "ray.io/kuberay-operator";
  EXPECT_FALSE(RayClusterSpec::read(cluster).managed_by_other());
  cluster["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_TRUE(RayClusterSpec::read(cluster).managed_by_other());
}

TEST(RayClusterSpec, TakesDefaultsForMembersOfTheWrongType) {
  for (const Json& json : {Json(), Json(1), Json({{"spec", 1}}), Json({{"spec", {{"headGroupSpec", 1}}}})}) {
    const RayClusterSpec spec = RayClusterSpec::read(json);
    EXPECT_THAT(spec.groups, IsEmpty());
    EXPECT_EQ(spec.head.port(), "6379");
  }
  Json cluster = kCluster;
  cluster["spec"]["workerGroupSpecs"] = {1, {{"groupName", 2}, {"numOfHosts", "x"}, {"replicas", 1LL << 40}}};
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  ASSERT_THAT(spec.groups, SizeIs(2));
  EXPECT_EQ(spec.groups[1].name, "");
  EXPECT_EQ(spec.groups[1].hosts, 1);
  EXPECT_EQ(spec.groups[1].replicas, 2147483647);
}

}  // namespace
}  // namespace tpuslice::raycluster
