#include "controllers/ray/child_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::ray {
namespace {

using ::testing::MatchesRegex;

Object a_job() {
  return Object({{"apiVersion", "ray.io/v1"},
                 {"kind", "RayJob"},
                 {"metadata",
                  {{"name", "train"},
                   {"namespace", "ml"},
                   {"uid", "u-1"},
                   {"labels", {{"team", "a"}}},
                   {"annotations", {{"note", "b"}, {"kubectl.kubernetes.io/last-applied-configuration", "{}"}}}}}});
}

TEST(ChildCluster, HasADerivedName) {
  const std::string first = child_cluster_name(a_job(), "0");
  EXPECT_THAT(first, MatchesRegex("train-[a-z0-9]{5}"));
  EXPECT_EQ(first, child_cluster_name(a_job(), "0"));
  EXPECT_NE(first, child_cluster_name(a_job(), "1"));
  Object other = a_job();
  other.mutable_json()["metadata"]["uid"] = "u-2";
  EXPECT_NE(first, child_cluster_name(other, "0")) << "a recreated RayJob has other clusters";
}

TEST(ChildCluster, SaysWhereItComesFrom) {
  const Object cluster = build_child_cluster(a_job(), "train-abcde", {{"rayVersion", "2.55.0"}});
  EXPECT_EQ(cluster.json(), Json::parse(R"({
    "apiVersion": "ray.io/v1", "kind": "RayCluster",
    "metadata": {
      "name": "train-abcde", "namespace": "ml",
      "labels": {"team": "a", "ray.io/originated-from-cr-name": "train", "ray.io/originated-from-crd": "RayJob"},
      "annotations": {"note": "b"},
      "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayJob", "name": "train", "uid": "u-1",
                           "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"rayVersion": "2.55.0"}})"));
}

TEST(IndexHead, FindsHeadPodsByCluster) {
  PodView pod;
  pod.key = {"ml", "train-abcde-head"};
  pod.labels["ray.io/cluster"] = "train-abcde";
  pod.labels["ray.io/node-type"] = "worker";
  EXPECT_EQ(index_head(pod), std::nullopt);
  pod.labels["ray.io/node-type"] = "head";
  EXPECT_EQ(index_head(pod), "ml/train-abcde");
}

}  // namespace
}  // namespace tpuslice::ray
