#include "controllers/jobset/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// One claim that is deleted with the JobSet, one that is retained.
JobSetBuilder with_claims() {
  return a_jobset("train").job("workers").set("/spec/volumeClaimPolicies", Json::parse(R"([
    {"templates": [{"metadata": {"name": "scratch", "labels": {"a": "b"}, "annotations": {"c": "d"}},
                    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}}]},
    {"retentionPolicy": {"whenDeleted": "Retain"}, "templates": [{"metadata": {"name": "data"}}]}])"));
}

plan::Plan created(const World& world) {
  const Scene scene(world);
  Decisions decisions;
  decisions.running.emplace().create_claims = missing_claims(scene.state.spec, scene.seen);
  return scene.render(decisions).plan;
}

TEST(VolumeClaims, AreCreatedIfMissing) {
  const plan::Plan plan = created(with_claims().world());
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("create PersistentVolumeClaim scratch-train",
                                                       "create PersistentVolumeClaim data-train")));
  const plan::Action scratch = action_of(plan, "create PersistentVolumeClaim scratch-train");
  EXPECT_EQ(*scratch.body.make(), Json::parse(R"({
    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "scratch-train", "namespace": "default",
                 "labels": {"a": "b", "jobset.sigs.k8s.io/jobset-name": "train"}, "annotations": {"c": "d"},
                 "ownerReferences": [{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train",
                                      "uid": "uid-of-train", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}})"));
  EXPECT_EQ(*action_of(plan, "create PersistentVolumeClaim data-train").body.make(), Json::parse(R"({
    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data-train", "namespace": "default",
                 "labels": {"jobset.sigs.k8s.io/jobset-name": "train"}},
    "spec": {}})"))
      << "without owner: it is retained";
  EXPECT_TRUE(scratch.use_existing) << "also if another owner controls it, as upstream";
  EXPECT_EQ(scratch.failure_reason, "PVCCreationFailed");
  ASSERT_NE(scratch.events, nullptr);
  EXPECT_THAT(describe(scratch.events->on_failure),
              ElementsAre("Warning PVCCreationFailed: Failed to create persistent volume claim default/scratch-train"));
  EXPECT_THAT(events_of(plan), SizeIs(2)) << "one for each action";
}

TEST(VolumeClaims, ThatExistAreNotWritten) { EXPECT_THAT(created(with_claims().everywhere(ready)).stages, IsEmpty()); }

TEST(VolumeClaims, OfAPreviousJobSetAreKept) {
  World world = with_claims().world();
  world.with_claim({{"metadata", {{"name", "data-train"}, {"namespace", "default"}}}});
  const plan::Plan plan = created(world);
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("create PersistentVolumeClaim scratch-train")));
  EXPECT_EQ(plan.reason, "volume claim scratch-train is missing: creating it");
}

}  // namespace
}  // namespace tpuslice::jobset
