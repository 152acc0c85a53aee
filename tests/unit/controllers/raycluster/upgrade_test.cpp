#include "controllers/raycluster/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

std::string hash_of(const Json& json) {
  const Object cluster(json);
  return spec_hash(RayClusterSpec::read(cluster));
}

std::string template_hash_of(const Json& json) {
  const Object cluster(json);
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  return template_hash(spec, spec.groups[0]);
}

struct HashCase {
  const char* name;
  const char* patch;  ///< Merged into the tutorial's spec; "group" is its worker group, "pod" the spec of its template.
  bool changes_spec;
  bool changes_template;
};
class HashOf : public testing::TestWithParam<HashCase> {};

TEST_P(HashOf, ChangesWithWhatPodsAreBuiltFrom) {
  Json cluster = tutorial_cluster();
  Json patch = Json::parse(GetParam().patch);
  Json& group = cluster["spec"]["workerGroupSpecs"][0];
  group["template"]["spec"].merge_patch(patch.value("pod", Json::object()));
  group.merge_patch(patch.value("group", Json::object()));
  for (const char* key : {"pod", "group"}) patch.erase(key);
  cluster["spec"].merge_patch(patch);
  EXPECT_EQ(hash_of(cluster) != hash_of(tutorial_cluster()), GetParam().changes_spec);
  EXPECT_EQ(template_hash_of(cluster) != template_hash_of(tutorial_cluster()), GetParam().changes_template);
}

INSTANTIATE_TEST_SUITE_P(
    Upgrade, HashOf,
    testing::Values(
        HashCase{"Image", R"({"pod": {"serviceAccountName": "other"}})", true, true},
        HashCase{"RayVersion", R"({"rayVersion": "2.50.0"})", true, true},
        HashCase{"StartParams", R"({"group": {"rayStartParams": {"num-cpus": "1"}}})", true, true},
        HashCase{"Head", R"({"headGroupSpec": {"serviceType": "NodePort"}})", true, false},
        HashCase{"Hosts", R"({"group": {"numOfHosts": 2}})", true, false},
        HashCase{"Replicas", R"({"group": {"replicas": 9, "minReplicas": 1, "maxReplicas": 9}})", false, false},
        HashCase{"WorkersToDelete", R"({"group": {"scaleStrategy": {"workersToDelete": ["a"]}}})", false, false},
        HashCase{"Strategy", R"({"upgradeStrategy": {"type": "Recreate"}, "suspend": false})", false, false},
        HashCase{"Kueue", R"({"pod": {"tolerations": [{"key": "a"}], "schedulingGates": [{"name": "b"}]}})", false,
                 false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SpecHash, IgnoresWhatTypedClientsAdd) {
  Json cluster = tutorial_cluster();
  Json& pod = cluster["spec"]["headGroupSpec"]["template"];
  pod["metadata"]["creationTimestamp"] = Json();
  pod["status"] = Json::object();
  EXPECT_EQ(hash_of(cluster), hash_of(tutorial_cluster()));
}

class Recreate : public testing::Test {
 protected:
  Recreate() {
    Json json = tutorial_cluster();
    json["spec"]["upgradeStrategy"]["type"] = "Recreate";
    seen_ = all_running(Object(json));
  }
  plan::Plan plan() const { return plan_raycluster(seen_, {}); }
  void change_spec() { edit(seen_.cluster)["spec"]["rayVersion"] = "2.50.0"; }

  RayClusterObserved seen_;
};

TEST_F(Recreate, DeletesAllPodsWhenTheSpecChanges) {
  EXPECT_THAT(plan().stages, IsEmpty());
  change_spec();
  const plan::Plan out = plan();
  EXPECT_THAT(out.reason, HasSubstr("deleting 5 of 5 pods"));
  EXPECT_THAT(stages_of(out), ElementsAre(AllOf(SizeIs(5), Each(StartsWith("delete Pod ")))));
  EXPECT_THAT(out, plan::HasEvent("DeletedPod"));
}

TEST_F(Recreate, CreatesPodsWhenTheLastEarlierOneIsDeleted) {
  change_spec();
  for (auto& pod : seen_.pods) change(pod, [](PodView& view) { view.deletion = a_time(); });
  EXPECT_THAT(writes_of(plan()), IsEmpty());
  seen_.pods.resize(1);
  EXPECT_THAT(writes_of(plan()), IsEmpty());
  seen_.pods.clear();
  EXPECT_THAT(writes_of(plan()), SizeIs(5));
}

TEST_F(Recreate, DeletesTheWorkersEvenIfTheHeadIsDeletedAlready) {
  change_spec();
  seen_.pods.erase(seen_.pods.begin());
  EXPECT_THAT(plan().reason, HasSubstr("deleting 4 of 4 pods"));
}

TEST_F(Recreate, RecordsTheHashOfPodsOfAnEarlierOrOtherOperator) {
  change_spec();
  for (auto& pod : seen_.pods) {
    change(pod, [](PodView& view) { view.annotations["ray.io/kuberay-version"] = "v1.6.0"; });
  }
  change(seen_.pods[1], [](PodView& view) { view.annotations.clear(); });
  const plan::Plan out = plan();
  EXPECT_THAT(stages_of(out), ElementsAre(AllOf(SizeIs(5), Each(StartsWith("patch Pod ")))));
  const plan::Action head = action_of(out, "patch Pod " + seen_.pods[0]->key.name);
  EXPECT_EQ(head.preconditions.uid, seen_.pods[0]->uid);
  EXPECT_EQ(head.failure_reason, kFailedUpdatePod);
  EXPECT_EQ(head.body.make().value()["metadata"]["annotations"]["ray.io/upgrade-strategy-recreate-hash"],
            hash_of(seen_.cluster.json()));
}

TEST_F(Recreate, IsNotDoneWithoutTheStrategy) {
  change_spec();
  edit(seen_.cluster)["spec"]["upgradeStrategy"]["type"] = "None";
  EXPECT_THAT(writes_of(plan()), IsEmpty());
}

TEST_F(Recreate, YieldsToSuspension) {
  change_spec();
  edit(seen_.cluster)["spec"]["suspend"] = true;
  EXPECT_THAT(writes_of(plan()), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::raycluster
