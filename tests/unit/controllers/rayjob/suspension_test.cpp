// Suspension, validation, deletion, and clusters that a selector names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayjob/rules/rayjob_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

World with_running_job(const Json& spec = Json::object()) {
  World world(a_rayjob(spec));
  world.settle();
  world.start_cluster();
  world.settle();
  world.ray.set_job(world.job_id(), "RUNNING", "");
  world.pass(3s);
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  world.take_events();
  world.take_requests();
  return world;
}

TEST(SuspendedRayJob, HasNoClusterAndStartsWhenItIsResumed) {
  World world(a_rayjob({{"suspend", true}, {"shutdownAfterJobFinishes", true}}));
  world.settle();
  EXPECT_EQ(world.state(), "Suspended");
  EXPECT_EQ(world.status("rayClusterName"), "");
  EXPECT_THAT(world.condition(kSuspended), StartsWith("True"));
  EXPECT_EQ(world.writes(), 1U);
  world.patch_spec({{"suspend", false}});
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_THAT(world.condition(kSuspended), StartsWith("False RayJobResumed"));
  EXPECT_THAT(world.take_events(), ElementsAre("Suspended", "Resumed", "CreatedRayCluster"));
}

TEST(SuspendedRayJob, ReleasesEverythingBeforeItIsSuspendedWhateverTheSpecSaysMeanwhile) {
  World world = with_running_job({{"shutdownAfterJobFinishes", true}});
  const std::string first = world.status("rayClusterName");
  world.patch_spec({{"suspend", true}});
  world.settle();
  EXPECT_EQ(world.state(), "Suspending RUNNING") << "pods of the cluster are terminating";
  EXPECT_TRUE(world.cluster().is_null());
  EXPECT_TRUE(world.submitter().is_null());
  world.patch_spec({{"suspend", false}});
  world.settle();
  EXPECT_EQ(world.state(), "Suspending RUNNING") << "atomic";
  world.delete_pods();
  world.step();
  EXPECT_EQ(world.state(), "Suspended");
  EXPECT_EQ(world.status("rayClusterName"), "");
  EXPECT_EQ(world.job_id(), "");
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_NE(world.status("rayClusterName"), first);
  EXPECT_EQ(world.status()["failed"], 0);
  EXPECT_THAT(world.violations(), IsEmpty());
}

TEST(SuspendedRayJob, MayBeWaitingForItsId) {
  World world(a_rayjob({{"submissionMode", "InteractiveMode"}, {"shutdownAfterJobFinishes", true}}));
  world.settle();
  world.start_cluster();
  world.settle();
  world.patch_spec({{"suspend", true}});
  world.settle();
  world.delete_pods();
  world.settle();
  EXPECT_EQ(world.state(), "Suspended");
}

TEST(SuspendedRayJob, InARetryIsSuspendedInsteadOfStarted) {
  World world = with_running_job({{"backoffLimit", 1}, {"shutdownAfterJobFinishes", true}});
  world.end_submitter("Failed");
  world.ray.set_job(world.job_id(), "FAILED", "");
  world.pass(3s);
  world.settle();
  world.patch_spec({{"suspend", true}});
  world.delete_pods();
  world.settle();
  EXPECT_EQ(world.state(), "Suspended");
}

TEST(InvalidRayJob, IsRefusedAndStartsOnceItIsCorrected) {
  World world(a_rayjob({{"rayClusterSpec", nullptr}}));
  world.settle();
  EXPECT_EQ(world.state(), "ValidationFailed ValidationFailed");
  EXPECT_THAT(world.status("message"), HasSubstr("spec.rayClusterSpec"));
  EXPECT_THAT(world.condition("tpuslice.dev/Accepted"), StartsWith("False InvalidSpec: "));
  EXPECT_THAT(world.take_events(), ElementsAre("InvalidRayJobSpec"));
  EXPECT_THAT(array_at(world.job(), {"metadata", "finalizers"}), IsEmpty()) << "nothing holds its deletion";
  world.patch_spec({{"rayClusterSpec", a_rayjob()["spec"]["rayClusterSpec"]}});
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_FALSE(world.cluster().is_null());
  EXPECT_THAT(world.condition("tpuslice.dev/Accepted"), StartsWith("True"));
}

TEST(InvalidRayJob, ThatHasBegunIsFollowedToItsEnd) {
  World world = with_running_job({{"shutdownAfterJobFinishes", true}});
  world.patch_spec({{"rayClusterSpec", nullptr}});
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_THAT(world.condition("tpuslice.dev/Accepted"), StartsWith("False InvalidSpec: "));
  EXPECT_THAT(world.take_events(), ElementsAre("InvalidRayJobSpec"));
  world.end_submitter("Complete");
  world.ray.set_job(world.job_id(), "SUCCEEDED", "");
  world.pass(3s);
  world.settle();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
  EXPECT_TRUE(world.cluster().is_null()) << "its cluster is not kept";
}

TEST(InvalidRayJob, GetsNoNewChildren) {
  World world(a_rayjob());
  world.step();
  world.patch_spec({{"rayClusterSpec", nullptr}});
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_TRUE(world.cluster().is_null());
  EXPECT_THAT(world.condition(kClusterReady), StartsWith("False NotAccepted"));
}

TEST(InvalidRayJob, IsNotRetriedUntilItIsCorrected) {
  World world = with_running_job({{"backoffLimit", 1}});
  world.patch_spec({{"rayClusterSpec", nullptr}});
  world.end_submitter("Failed");
  world.ray.set_job(world.job_id(), "FAILED", "");
  world.pass(3s);
  world.settle();
  world.delete_pods();
  world.settle();
  EXPECT_EQ(world.state(), "ValidationFailed ValidationFailed");
  world.patch_spec({{"rayClusterSpec", a_rayjob()["spec"]["rayClusterSpec"]}});
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
}

TEST(DeletedRayJob, IsHeldUntilItsJobIsStopped) {
  World world = with_running_job();
  const std::string id = world.job_id();
  world.delete_job();
  world.step();
  EXPECT_FALSE(world.gone());
  world.advance();
  EXPECT_THAT(world.take_requests(), ElementsAre("POST /api/jobs/" + id + "/stop"));
  world.step();
  EXPECT_TRUE(world.gone());
}

TEST(DeletedRayJob, IsHeldForALimitedTime) {
  World world = with_running_job();
  world.ray.set_fault(FakeRay::Fault::kFailing);
  world.delete_job();
  world.settle();
  EXPECT_FALSE(world.gone());
  EXPECT_EQ(world.plan().requeue_after, Duration(30s));
  world.pass(30s);
  world.step();
  EXPECT_TRUE(world.gone());
  EXPECT_THAT(world.take_events(), ElementsAre("FailedToStopRayJob"));
}

TEST(DeletedRayJob, WithoutAJobThatRunsIsNotHeld) {
  World lost = with_running_job();
  lost.lose_head();
  lost.delete_job();
  lost.step();
  EXPECT_TRUE(lost.gone());
  World early(a_rayjob());
  early.settle();
  early.delete_job();
  early.step();
  EXPECT_TRUE(early.gone());
  World ended = with_running_job();
  ended.end_submitter("Complete");
  ended.ray.set_job(ended.job_id(), "SUCCEEDED", "");
  ended.pass(3s);
  ended.settle();
  ended.take_requests();
  ended.patch_spec({{"rayClusterSpec", nullptr}});
  ended.delete_job();
  ended.step();
  EXPECT_TRUE(ended.gone());
  EXPECT_THAT(ended.take_requests(), IsEmpty());
}

Json selecting() { return {{"rayClusterSpec", nullptr}, {"clusterSelector", {{"ray.io/cluster", "shared"}}}}; }

TEST(SelectingRayJob, WaitsForTheClusterThatItNames) {
  World world(a_rayjob(selecting()));
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_EQ(world.status("rayClusterName"), "shared");
  EXPECT_THAT(world.take_events(), ElementsAre("RayClusterNotFound")) << "once";
  EXPECT_THAT(world.condition(kClusterReady), StartsWith("False ClusterNotFound: "));
  EXPECT_TRUE(world.cluster().is_null());
}

TEST(SelectingRayJob, NeverDeletesTheCluster) {
  Json spec = selecting();
  spec["shutdownAfterJobFinishes"] = true;
  World world(a_rayjob(spec));
  world.settle();
  world.add_foreign_cluster("shared");
  world.start_cluster();
  world.settle();
  EXPECT_EQ(world.state(), "Running");
  EXPECT_TRUE(world.service().is_null());
  world.end_submitter("Complete");
  world.ray.set_job(world.job_id(), "SUCCEEDED", "");
  world.pass(3s);
  world.settle();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
  EXPECT_FALSE(world.cluster().is_null());
}

TEST(SelectingRayJob, DeletesItselfIfARuleSaysSo) {
  Json spec = selecting();
  spec["deletionStrategy"]["deletionRules"] =
      Json::array({{{"policy", "DeleteSelf"}, {"condition", {{"jobStatus", "FAILED"}, {"ttlSeconds", 60}}}}});
  spec["activeDeadlineSeconds"] = 60;
  World world(a_rayjob(spec));
  world.settle();
  world.add_foreign_cluster("shared");
  world.start_cluster();
  world.settle();
  world.pass(60s);
  world.settle();
  EXPECT_EQ(world.state(), "Failed DeadlineExceeded");
  EXPECT_FALSE(world.gone());
  world.pass(60s);
  world.settle();
  EXPECT_TRUE(world.gone());
}

TEST(UnknownState, IsWaitedForAndReported) {
  World world = with_running_job();
  world.object().mutable_json()["status"]["jobDeploymentStatus"] = "Scheduling";
  world.settle();
  EXPECT_EQ(world.state(), "Scheduling RUNNING");
  EXPECT_THAT(world.condition(kClusterReady), StartsWith("False UnknownState: "));
  EXPECT_THAT(world.condition(kClusterReady), HasSubstr("status.jobDeploymentStatus is Scheduling"));
  EXPECT_FALSE(world.cluster().is_null());
  EXPECT_THAT(world.take_events(), IsEmpty());
  EXPECT_EQ(world.cluster_names().size(), 1U);
  world.object().mutable_json()["status"]["jobDeploymentStatus"] = "Running";
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
}

}  // namespace
}  // namespace tpuslice::rayjob
