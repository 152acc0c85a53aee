#include "controllers/raycluster/head.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Head : public testing::Test {
 protected:
  [[nodiscard]] HeadDecision decide(bool may_create = true) const {
    return decide_head(RayClusterSpec::read(cluster_), heads_, may_create, {});
  }
  /// Names of the pods that are deleted.
  [[nodiscard]] std::vector<std::string> deleted() const {
    std::vector<std::string> out;
    for (const HeadDecision::Deletion& deletion : decide().deletes) out.push_back(deletion.pod->key.name);
    return out;
  }

  Object cluster_ = Object(tutorial_cluster());
  std::vector<PodPtr> heads_{share(a_head(cluster_))};
};

TEST_F(Head, IsCreatedIfMissing) {
  heads_.clear();
  ASSERT_TRUE(decide().create.has_value());
  EXPECT_EQ(decide().create->label("ray.io/node-type"), "head");
  EXPECT_FALSE(decide(false).create.has_value());
}

TEST_F(Head, IsKeptWhileItRuns) {
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_FALSE(decide().create.has_value());
}

TEST_F(Head, IsDeletedOnceTerminalAndCreatedAgainAfterItsDeletion) {
  change(heads_[0], [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  ASSERT_THAT(decide().deletes, SizeIs(1));
  EXPECT_EQ(decide().deletes[0].reason, "will not run again (pod failed)");
  EXPECT_FALSE(decide().create.has_value());
  change(heads_[0], [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_FALSE(decide().create.has_value());
}

TEST_F(Head, IsTheOldestOfSeveral) {
  PodView younger = *heads_[0];
  younger.key.name = "younger";
  younger.created = a_time();
  heads_.insert(heads_.begin(), share(younger));
  EXPECT_THAT(deleted(), testing::ElementsAre("younger"));
}

TEST_F(Head, IsTheRunningOneBesideAnOlderTerminalOne) {
  PodView terminal = *heads_[0];
  terminal.key.name = "terminal";
  terminal.phase = PodPhase::kFailed;
  heads_.push_back(share(terminal));
  EXPECT_THAT(deleted(), testing::ElementsAre("terminal"));
}

TEST_F(Head, IsNotReplacedOnceProvisionedIfItsContainerSubmitsARayJob) {
  cluster_.mutable_json()["metadata"]["annotations"]["ray.io/disable-provisioned-head-restart"] = "true";
  RayClusterObserved seen = nothing_yet(cluster_);
  EXPECT_THAT(plan_raycluster(seen, {}), plan::HasEvent("CreatedHeadPod"));
  edit(seen.cluster)["status"]["conditions"] = Json::array({{{"type", "RayClusterProvisioned"}, {"status", "True"}}});
  EXPECT_THAT(plan_raycluster(seen, {}), testing::Not(plan::HasEvent("CreatedHeadPod")));
}

TEST_F(Head, ThatIsLostAndNotReplacedGetsNoNewWorkers) {
  cluster_.mutable_json()["metadata"]["annotations"]["ray.io/disable-provisioned-head-restart"] = "true";
  RayClusterObserved seen = all_running(cluster_);
  edit(seen.cluster)["status"]["conditions"] = Json::array({{{"type", "RayClusterProvisioned"}, {"status", "True"}}});
  const auto is_head = [](const PodPtr& pod) { return pod->label("ray.io/node-type") == "head"; };
  std::erase_if(seen.pods, std::not_fn(is_head));
  EXPECT_THAT(plan_raycluster(seen, {}), plan::HasEvent("CreatedWorkerPod"));
  change(seen.pods[0], [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(plan_raycluster(seen, {}), testing::Not(plan::HasEvent("CreatedWorkerPod")));
  seen.pods.clear();
  EXPECT_THAT(plan_raycluster(seen, {}), testing::Not(plan::HasEvent("CreatedWorkerPod")));
}

TEST_F(Head, HasAnErrorIfItsPodCannotBeBuilt) {
  heads_.clear();
  cluster_.mutable_json()["spec"]["headGroupSpec"]["template"]["spec"]["containers"] = Json::array();
  EXPECT_FALSE(decide().create.has_value());
  EXPECT_THAT(decide().error, HasSubstr("spec.headGroupSpec.template.spec.containers"));
}

}  // namespace
}  // namespace tpuslice::raycluster
