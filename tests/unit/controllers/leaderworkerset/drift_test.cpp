#include "controllers/leaderworkerset/drift.h"

#include <gtest/gtest.h>

#include "api/types/patch.h"
#include "controllers/leaderworkerset/leader_set.h"
#include "tests/unit/controllers/leaderworkerset/sets.h"

namespace tpuslice::leaderworkerset {
namespace {

using enum PodTemplate;

Json wanted() {
  const Object object = a_set("serve")
                            .of_template("/workerTemplate/spec/containers/0/resources/limits", {{"memory", "1024Mi"}})
                            .of_template("/workerTemplate/spec/containers/0/args", Json::array({"a"}))
                            .object();
  return build_leader_set(LeaderWorkerSetSpec::read(object), {.revision_key = "key"});
}

// As an API server has it: with defaults, and with what others added.
Json live() {
  Json set = wanted();
  set["metadata"]["labels"]["added"] = "by-somebody";
  set["spec"]["revisionHistoryLimit"] = 10;
  set["spec"]["updateStrategy"]["rollingUpdate"].erase("maxUnavailable");
  Json& pod = set["spec"]["template"]["spec"];
  pod["restartPolicy"] = "Always";
  pod["containers"][0]["imagePullPolicy"] = "IfNotPresent";
  set["status"]["replicas"] = 1;
  return set;
}

/// The patch for a set that is `live`.
Json patch_of(Json live, PodTemplate pods = kLeftAlone) {
  live["metadata"]["uid"] = "u";
  return restore_set(wanted(), StatefulSetView::from_json(live).value(), pods);
}

TEST(Drift, IsNotWhatTheApiServerAdds) {
  EXPECT_TRUE(patch_of(live()).is_null());
  EXPECT_TRUE(patch_of(wanted()).is_null());
}

TEST(Drift, IsPutBack) {
  Json set = live();
  set["spec"]["replicas"] = 5;
  set["metadata"]["labels"].erase("leaderworkerset.sigs.k8s.io/name");
  set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 3;
  const Json patch = patch_of(set);
  EXPECT_EQ(patch, Json::parse(R"({"metadata": {"labels": {"leaderworkerset.sigs.k8s.io/name": "serve"}},
      "spec": {"replicas": 1, "updateStrategy": {"rollingUpdate": {"partition": 0}}}})"));
  EXPECT_TRUE(patch_of(apply_merge_patch(set, patch)).is_null());
}

TEST(Drift, OfAPodTemplateIsLeftAloneUntilItIsReplaced) {
  Json set = live();
  set["spec"]["template"]["spec"]["containers"][0]["args"] = Json::array({"a", "b"});
  set["spec"]["template"]["spec"]["nodeSelector"] = {{"no", "longer"}};
  EXPECT_TRUE(patch_of(set).is_null());
  const Json replaced = apply_merge_patch(set, patch_of(set, kReplaced));
  EXPECT_EQ(replaced["spec"]["template"], wanted()["spec"]["template"]);
}

TEST(Drift, OfWhatCannotBeChangedIsNotTried) {
  Json set = live();
  set["spec"]["serviceName"] = "other";
  set["spec"]["podManagementPolicy"] = "OrderedReady";
  set["spec"]["selector"]["matchLabels"]["x"] = "y";
  set["metadata"]["ownerReferences"] = Json::array();
  EXPECT_TRUE(patch_of(set).is_null());
}

TEST(Drift, OfMaxUnavailableIsPutBackWhereTheApiServerKnowsIt) {
  Json set = live();
  set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 9;
  EXPECT_EQ(patch_of(set), Json::parse(R"({"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}})"));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
