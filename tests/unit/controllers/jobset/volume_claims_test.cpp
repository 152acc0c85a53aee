#include "controllers/jobset/volume_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// One claim that goes with the JobSet, one that stays.
JobSetBuilder with_claims() {
  return a_jobset("train").job("workers").set("/spec/volumeClaimPolicies", Json::parse(R"([
    {"templates": [{"metadata": {"name": "scratch", "labels": {"a": "b"}, "annotations": {"c": "d"}},
                    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}}]},
    {"retentionPolicy": {"whenDeleted": "Retain"}, "templates": [{"metadata": {"name": "data"}}]}])"));
}

TEST(VolumeClaims, AreCreatedWhereTheyAreMissing) {
  Scene scene(with_claims().world());
  plan_claims(scene.seen, scene.changes);
  ASSERT_THAT(told(scene.changes.resources), ElementsAre("create scratch-train", "create data-train"));
  EXPECT_EQ(*scene.changes.resources[0].body.make(), Json::parse(R"({
    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "scratch-train", "namespace": "default",
                 "labels": {"a": "b", "jobset.sigs.k8s.io/jobset-name": "train"}, "annotations": {"c": "d"},
                 "ownerReferences": [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train",
                                      "uid": "uid-of-train", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}})"));
  EXPECT_EQ(*scene.changes.resources[1].body.make(), Json::parse(R"({
    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data-train", "namespace": "default",
                 "labels": {"jobset.sigs.k8s.io/jobset-name": "train"}},
    "spec": {}})"))
      << "without owner: it stays";
  EXPECT_EQ(scene.changes.resources[0].failure_reason, "PVCCreationFailed");
  ASSERT_THAT(scene.changes.events, SizeIs(2));
  EXPECT_EQ(scene.changes.events[0].reason, "PVCCreationFailed");
  EXPECT_EQ(scene.changes.events[0].message, "Failed to create persistent volume claim default/scratch-train");
  EXPECT_EQ(scene.changes.events[0].after, (ObjectKey{"default", "scratch-train"}));
}

TEST(VolumeClaims, ThatAreThereAreNotWrittenAgain) {
  Scene scene(with_claims().everywhere(ready));
  plan_claims(scene.seen, scene.changes);
  EXPECT_THAT(scene.changes.resources, IsEmpty());
  EXPECT_THAT(scene.changes.events, IsEmpty());
  EXPECT_THAT(scene.changes.reasons, IsEmpty());
}

TEST(VolumeClaims, OfAnEarlierJobSetOfTheNameAreKept) {
  World world = with_claims().world();
  world.with_claim({{"metadata", {{"name", "data-train"}, {"namespace", "default"}}}});
  Scene scene(world);
  plan_claims(scene.seen, scene.changes);
  EXPECT_THAT(told(scene.changes.resources), ElementsAre("create scratch-train"));
  EXPECT_THAT(scene.changes.reasons, ElementsAre("volume claim scratch-train is missing: creating it"));
}

}  // namespace
}  // namespace tpuslice::jobset
