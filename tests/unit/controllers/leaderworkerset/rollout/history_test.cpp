#include "controllers/leaderworkerset/rollout/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kImage = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image";
const std::string kClaims = "/spec/leaderWorkerTemplate/volumeClaimTemplates";

Json claims(const std::string& storage) {
  return Json::array(
      {{{"metadata", {{"name", "cache"}}}, {"spec", {{"resources", {{"requests", {{"storage", storage}}}}}}}}});
}

std::string reason_of_groups_healthy(const World& serve) {
  return string_at(*find_condition(serve.conditions(), kGroupsHealthy), {"reason"});
}

// The webhook was away, or another manager admitted the change.
TEST(ChangedClaims, AreNotRolledOut) {
  World serve = stable_world(a_set("serve").replicas(2).size(2).set(kClaims, claims("1Gi")));
  serve.change_set(kClaims, claims("2Gi"));
  serve.change_set(kImage, "another");
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), IsEmpty()) << "neither revision nor leader set";
  const Json* const healthy = find_condition(serve.conditions(), kGroupsHealthy);
  ASSERT_NE(healthy, nullptr);
  EXPECT_EQ(string_at(*healthy, {"status"}), "False");
  EXPECT_EQ(string_at(*healthy, {"reason"}), "VolumeClaimsChanged");
  EXPECT_THAT(string_at(*healthy, {"message"}), HasSubstr("restore the field, or create another LeaderWorkerSet"));
  EXPECT_EQ(serve.set()["status"]["updatedReplicas"], 0);
  EXPECT_EQ(condition_status(serve.conditions(), kAvailable), "False");
  EXPECT_TRUE(serve.plan().empty());
}

TEST(ChangedClaims, DoNotHoldBackRestartsAndScaling) {
  World serve = stable_world(a_set("serve").replicas(2).size(2).set(kClaims, claims("1Gi")));
  serve.change_set(kClaims, nullptr);
  serve.step();
  serve.restart_container("serve-0-1");
  EXPECT_THAT(writes_of(serve.plan(), "delete Pod"),
              ElementsAre("delete Pod serve-0 Foreground", "delete Pod serve-0-1"));
  serve.change_set("/spec/replicas", 3);
  EXPECT_EQ(action_of(serve.plan(), "patch StatefulSet serve").body.make().value()["spec"]["replicas"], 3);
}

TEST(ChangedClaims, AreForgottenWhenTheyAreRestored) {
  World serve = stable_world(a_set("serve").replicas(2).size(2).set(kClaims, claims("1Gi")));
  serve.change_set(kClaims, claims("2Gi"));
  serve.step();
  EXPECT_EQ(reason_of_groups_healthy(serve), "VolumeClaimsChanged");
  serve.change_set(kClaims, claims("1024Mi"));
  serve.step();
  EXPECT_EQ(reason_of_groups_healthy(serve), "GroupsHealthy");
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(DeletedRevision, IsThatOfTheSpecIfTheLeaderSetHasItsTemplate) {
  World serve = stable_world();
  serve.revisions().clear();
  serve.leader_set()["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 30;  // A default.
  const std::string key = string_at(serve.leader_set(), {"metadata", "labels", kRevisionKey});
  EXPECT_THAT(writes_of(serve.step()), ElementsAre(HasSubstr("create ControllerRevision serve-")));
  EXPECT_EQ(string_at(serve.revisions().begin()->second, {"metadata", "labels", kRevisionKey}), key);
}

TEST(DeletedRevision, IsAnotherOneIfTheTemplateWasChangedMeanwhile) {
  World serve = stable_world();
  serve.revisions().clear();
  serve.change_set(kImage, "another");
  const std::string key = string_at(serve.leader_set(), {"metadata", "labels", kRevisionKey});
  EXPECT_THAT(writes_of(serve.step()),
              ElementsAre(HasSubstr("create ControllerRevision serve-"), "patch StatefulSet serve"));
  EXPECT_NE(string_at(serve.leader_set(), {"metadata", "labels", kRevisionKey}), key);
  EXPECT_EQ(serve.leader_set()["spec"]["template"]["spec"]["containers"][0]["image"], "another");
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
