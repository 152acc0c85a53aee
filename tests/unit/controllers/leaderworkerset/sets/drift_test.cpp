#include "controllers/leaderworkerset/sets/drift.h"

#include <gtest/gtest.h>

#include "api/types/patch.h"
#include "controllers/leaderworkerset/sets/leader_set.h"
#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

using enum PodTemplate;

Json desired() {
  const Object object = a_set("serve")
                            .of_template("/workerTemplate/spec/containers/0/resources/limits", {{"memory", "1024Mi"}})
                            .of_template("/workerTemplate/spec/containers/0/args", Json::array({"a"}))
                            .object();
  return build_leader_set(LeaderWorkerSetSpec::read(object), {.revision_key = "key"});
}

/// A live set: with defaults and labels of others.
Json live() {
  Json set = desired();
  set["metadata"]["labels"]["added"] = "by-a-user";
  set["spec"]["revisionHistoryLimit"] = 10;
  set["spec"]["updateStrategy"]["rollingUpdate"].erase("maxUnavailable");
  Json& pod = set["spec"]["template"]["spec"];
  pod["restartPolicy"] = "Always";
  pod["containers"][0]["imagePullPolicy"] = "IfNotPresent";
  set["status"]["replicas"] = 1;
  return set;
}

Json patch_of(Json live, PodTemplate pods = kIgnore) {
  live["metadata"]["uid"] = "u";
  return restore_set(desired(), StatefulSetView::from_json(live).value(), pods);
}

TEST(Drift, IgnoresDefaultsOfTheApiServerAndLabelsOfOthers) {
  EXPECT_TRUE(patch_of(live()).is_null());
  EXPECT_TRUE(patch_of(desired()).is_null());
}

TEST(Drift, IsRepaired) {
  Json set = live();
  set["spec"]["replicas"] = 5;
  set["metadata"]["labels"].erase("leaderworkerset.sigs.k8s.io/name");
  set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 3;
  const Json patch = patch_of(set);
  EXPECT_EQ(patch, Json::parse(R"({"metadata": {"labels": {"leaderworkerset.sigs.k8s.io/name": "serve"}},
      "spec": {"replicas": 1, "updateStrategy": {"rollingUpdate": {"partition": 0}}}})"));
  EXPECT_TRUE(patch_of(apply_merge_patch(set, patch)).is_null());
}

TEST(Drift, OfAPodTemplateIsIgnoredUntilItIsReplaced) {
  Json set = live();
  set["spec"]["template"]["spec"]["containers"][0]["args"] = Json::array({"a", "b"});
  set["spec"]["template"]["spec"]["nodeSelector"] = {{"no", "longer"}};
  EXPECT_TRUE(patch_of(set).is_null());
  const Json replaced = apply_merge_patch(set, patch_of(set, kReplace));
  EXPECT_EQ(replaced["spec"]["template"], desired()["spec"]["template"]);
}

TEST(Drift, OfImmutableFieldsIsIgnored) {
  Json set = live();
  set["spec"]["serviceName"] = "other";
  set["spec"]["podManagementPolicy"] = "OrderedReady";
  set["spec"]["selector"]["matchLabels"]["x"] = "y";
  set["metadata"]["ownerReferences"] = Json::array();
  EXPECT_TRUE(patch_of(set).is_null());
}

TEST(Drift, OfMaxUnavailableIsRepairedUnlessTheApiServerDropsIt) {
  Json set = live();
  set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 9;
  EXPECT_EQ(patch_of(set), Json::parse(R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}})"));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
