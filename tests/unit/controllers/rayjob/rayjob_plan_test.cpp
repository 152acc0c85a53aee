// The states of a RayJob: what leads from one to the next.
#include "controllers/rayjob/rayjob_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

/// A RayJob whose cluster is ready and whose submitter, if any, has started.
World running(const Json& spec = Json::object()) {
  World world(a_rayjob(spec));
  world.settle();
  world.start_cluster();
  world.settle();
  EXPECT_THAT(world.state(), StartsWith("Running"));
  world.take_events();
  world.take_requests();
  return world;
}

/// The same, and Ray runs the job.
World job_running(const Json& spec = Json::object()) {
  World world = running(spec);
  world.ray.set_job(world.job_id(), "RUNNING", "it runs");
  world.pass(3s);
  world.settle();
  EXPECT_THAT(world.state(), StartsWith("Running RUNNING"));
  world.take_events();
  world.take_requests();
  return world;
}

void report(World& world, const char* status, const char* message = "") {
  world.ray.set_job(world.job_id(), status, message);
  world.pass(3s);
  world.settle();
}

TEST(RayJobPlan, StartsByWritingTheNamesOfItsChildren) {
  World world(a_rayjob());
  EXPECT_THAT(stages_of(world.step()), ElementsAre(ElementsAre("patch RayJob train"))) << "the finalizer";
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_THAT(world.status("rayClusterName"), testing::MatchesRegex("train-.{5}"));
  EXPECT_THAT(world.job_id(), testing::MatchesRegex("train-.{5}"));
  EXPECT_NE(world.job_id(), world.status("rayClusterName"));
  EXPECT_EQ(world.status("startTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(world.status()["observedGeneration"], 1);
  EXPECT_THAT(array_at(world.job(), {"metadata", "finalizers"}), ElementsAre(Json(kStopFinalizer)));
}

TEST(RayJobPlan, CreatesTheClusterWithItsLabels) {
  World world(a_rayjob());
  world.settle();
  EXPECT_EQ(string_at(world.cluster(), {"metadata", "name"}), world.status("rayClusterName"));
  const Json& labels = world.cluster()["metadata"]["labels"];
  EXPECT_EQ(labels["team"], "a");
  EXPECT_EQ(labels["ray.io/originated-from-cr-name"], "train");
  EXPECT_EQ(labels["ray.io/originated-from-crd"], "RayJob");
  EXPECT_EQ(labels["ray.io/job-submission-mode"], "K8sJobMode");
  EXPECT_EQ(world.cluster()["spec"], world.job()["spec"]["rayClusterSpec"]);
  EXPECT_THAT(world.take_events(), ElementsAre("CreatedRayCluster"));
}

TEST(RayJobPlan, SaysWhatItsClusterWaitsFor) {
  World world(a_rayjob());
  world.settle();
  world.set_cluster_condition("tpuslice.dev/SlicesPlaced", "False", "no node pool matches tpu-v6e-slice 4x4");
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_THAT(world.status("message"), HasSubstr(": no node pool matches tpu-v6e-slice 4x4"));
  EXPECT_EQ(world.condition(kClusterReady), "False ClusterPending: " + world.status("message"));
  world.start_cluster();
  world.settle();
  EXPECT_EQ(world.status("message"), "");
  EXPECT_EQ(world.condition(kClusterReady), "True ClusterReady: the RayCluster is ready");
}

TEST(RayJobPlan, HasTheConditionOfTheSlicesOfItsCluster) {
  World world(a_rayjob({{"backoffLimit", 1}}));
  world.settle();
  EXPECT_THAT(world.take_events(), ElementsAre("CreatedRayCluster"));
  const auto wait_for = [&](const std::string& reason, const std::string& message) {
    world.set_cluster_condition("tpuslice.dev/SlicesPlaced", "False", message, reason);
    world.settle();
    EXPECT_EQ(world.condition(plan::kSlicesPlaced), "False " + reason + ": " + message);
  };
  wait_for("NodesInUse", "a is in use");
  EXPECT_THAT(world.take_events(), ElementsAre("SliceWaiting"));
  EXPECT_EQ(world.last_message("SliceWaiting"), "a is in use");
  wait_for("NodesInUse", "b is in use");
  EXPECT_THAT(world.take_events(), ElementsAre()) << "for the same";
  wait_for("NodesNotUsable", "a is cordoned");
  EXPECT_THAT(world.take_events(), ElementsAre("SliceWaiting"));
  world.delete_cluster();
  world.settle();
  EXPECT_THAT(world.condition(plan::kSlicesPlaced), StartsWith("False ClusterPending: ")) << "not that of the last one";
}

TEST(RayJobPlan, RunsOnceTheClusterIsReadyAndTheSubmitterExists) {
  World world(a_rayjob());
  world.settle();
  world.start_cluster();
  const plan::Plan plan = world.step();
  EXPECT_THAT(writes_of(plan), ElementsAre("create Job train"));
  EXPECT_EQ(world.state(), "Initializing") << "the Job was not observed yet";
  EXPECT_THAT(world.status("dashboardURL"), MatchesRegex("train-.*-head-svc.default.svc.cluster.local:8265"));
  world.settle();
  EXPECT_EQ(world.state(), "Running");
  EXPECT_EQ(world.service()["metadata"]["name"], "train-head-svc");
  EXPECT_EQ(world.service()["spec"]["selector"]["ray.io/cluster"], world.status("rayClusterName"));
  EXPECT_THAT(world.take_events(), ElementsAre("CreatedRayCluster", "CreatedRayJobSubmitter", "CreatedService"));
}

TEST(RayJobPlan, AnIdleRayJobIsNotWritten) {
  World world = job_running();
  const std::size_t writes = world.writes();
  for (int i = 0; i < 20; ++i) {
    world.pass(3s);
    world.settle();
  }
  EXPECT_EQ(world.writes(), writes);
}

struct End {
  const char* job;        ///< By Ray.
  const char* submitter;  ///< Condition of its Job.
  const char* state;
};
class RayJobEnds : public testing::TestWithParam<End> {};

TEST_P(RayJobEnds, AsRaySays) {
  World world = job_running();
  world.end_submitter(GetParam().submitter);
  report(world, GetParam().job, "message of Ray");
  EXPECT_EQ(world.state(), GetParam().state);
  EXPECT_NE(world.status("endTime"), "");
  EXPECT_THAT(world.status("message"), HasSubstr("message of Ray"));
  EXPECT_EQ(world.status()["rayJobInfo"].size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Of, RayJobEnds,
                         testing::Values(End{"SUCCEEDED", "Complete", "Complete SUCCEEDED"},
                                         End{"SUCCEEDED", "Failed", "Complete SUCCEEDED"},
                                         End{"STOPPED", "Failed", "Complete STOPPED"},
                                         End{"FAILED", "Failed", "Failed FAILED AppFailed"},
                                         End{"FAILED", "Complete", "Failed FAILED AppFailed"}));

TEST(RayJobPlan, EveryEndIsAnEventAndACondition) {
  World good = job_running();
  good.end_submitter("Complete");
  report(good, "SUCCEEDED");
  EXPECT_THAT(good.take_events(), ElementsAre("Complete"));
  EXPECT_THAT(good.condition("Complete"), StartsWith("True SUCCEEDED"));
  EXPECT_EQ(good.status()["succeeded"], 1);
  EXPECT_EQ(good.status()["failed"], 0);
  World bad = job_running();
  bad.end_submitter("Failed");
  report(bad, "FAILED", "exit code 1");
  EXPECT_THAT(bad.take_events(), ElementsAre("Failed"));
  EXPECT_EQ(bad.last_message("Failed"), "AppFailed: exit code 1; it is not retried: spec.backoffLimit is 0");
  EXPECT_EQ(bad.condition("Failed"), "True AppFailed: exit code 1");
  EXPECT_EQ(bad.status()["failed"], 1);
}

TEST(RayJobPlan, WaitsForTheSubmitterThatCopiesTheLog) {
  World world = job_running();
  report(world, "SUCCEEDED");
  EXPECT_EQ(world.state(), "Running SUCCEEDED");
  EXPECT_EQ(world.plan().requeue_after, Duration(5min));
  world.pass(5min);
  world.settle();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED JobDeploymentStatusTransitionGracePeriodExceeded");
}

TEST(RayJobPlan, ASubmitterThatFailedWhileTheJobRunsIsNoFailure) {
  World world = job_running();
  world.end_submitter("Failed");
  world.pass(10min);
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  report(world, "SUCCEEDED");
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
}

TEST(RayJobPlan, ASubmitterThatFailedBeforeTheJobExistedIsAFailure) {
  World world = running();
  world.end_submitter("Failed");
  world.settle();
  EXPECT_EQ(world.state(), "Failed SubmissionFailed");
  EXPECT_EQ(world.status("message"), "Job submission has failed. Reason: BackoffLimitExceeded. Message: it failed");
}

TEST(RayJobPlan, ASubmitterThatEndedWithoutAJobIsAFailure) {
  World world = running();
  world.end_submitter("Complete");
  world.settle();
  EXPECT_EQ(world.state(), "Failed AppFailed");
}

TEST(RayJobPlan, AnAnswerFromBeforeTheSubmitterEndedDoesNotCount) {
  World world = running();
  ASSERT_EQ(world.state(), "Running") << "Ray has said that it does not know the job";
  world.ray.set_job(world.job_id(), "SUCCEEDED", "");
  world.end_submitter("Complete");
  world.step();
  EXPECT_EQ(world.state(), "Running") << "it is asked again first";
  world.settle();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
}

TEST(RayJobPlan, AMissingSubmitterIsCreatedAgainUnlessTheJobExists) {
  World world = running();
  world.delete_submitter();
  world.settle();
  EXPECT_FALSE(world.submitter().is_null());
  World seen = job_running();
  seen.delete_submitter();
  seen.settle();
  EXPECT_TRUE(seen.submitter().is_null());
  report(seen, "SUCCEEDED");
  EXPECT_EQ(seen.state(), "Complete SUCCEEDED");
}

TEST(RayJobPlan, AJobThatRayForgotIsLostAndNotRunAgain) {
  for (const char* mode : {"K8sJobMode", "HTTPMode"}) {
    World world = job_running({{"submissionMode", mode}});
    world.ray.forget_job(world.job_id());
    world.pass(3s);
    world.settle();
    EXPECT_EQ(world.state(), "Failed RUNNING JobLost");
    EXPECT_THAT(world.status("message"), HasSubstr("the head of RayCluster"));
    EXPECT_THAT(world.take_requests(), Not(Contains("POST /api/jobs/")));
  }
}

TEST(RayJobPlan, AClusterThatIsDeletedWhileTheJobRunsIsNotMadeAgain) {
  World world = job_running();
  world.delete_cluster();
  world.settle();
  EXPECT_EQ(world.state(), "Failed RUNNING JobLost");
  EXPECT_TRUE(world.cluster().is_null());
}

TEST(RayJobPlan, RetriesWithANewClusterOnceThePodsOfTheOldOneAreGone) {
  World world = job_running({{"backoffLimit", 1}});
  const std::string first = world.status("rayClusterName");
  const std::string id = world.job_id();
  world.end_submitter("Failed");
  report(world, "FAILED", "exit code 1");
  EXPECT_EQ(world.state(), "Retrying FAILED AppFailed") << "pods of the old cluster are terminating";
  EXPECT_THAT(world.condition(kClusterReady), HasSubstr("waiting for the deletion of pod " + first));
  EXPECT_THAT(world.take_events(), ElementsAre("Retrying", "DeletedRayCluster", "DeletedRayJobSubmitter"));
  EXPECT_EQ(world.last_message("Retrying"),
            "AppFailed: exit code 1; it is retried with a new RayCluster, attempt 2 of 2");
  EXPECT_TRUE(world.cluster().is_null());
  world.pass(5s);
  world.delete_pods();
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_NE(world.status("rayClusterName"), first);
  EXPECT_NE(world.job_id(), id);
  EXPECT_EQ(world.status("startTime"), "2026-01-01T00:00:11Z");
  EXPECT_EQ(world.status()["failed"], 1);
  world.start_cluster();
  world.settle();
  EXPECT_EQ(world.service()["spec"]["selector"]["ray.io/cluster"], world.status("rayClusterName"));
  world.end_submitter("Failed");
  report(world, "FAILED", "exit code 2");
  EXPECT_EQ(world.state(), "Failed FAILED AppFailed");
  EXPECT_EQ(world.last_message("Failed"), "AppFailed: exit code 2; that was attempt 2 of 2");
  EXPECT_EQ(world.status()["failed"], 2);
  EXPECT_THAT(world.violations(), IsEmpty());
}

TEST(RayJobPlan, ADeadlineIsNotRetriedAndTheJobIsStopped) {
  World world = job_running({{"backoffLimit", 3}, {"activeDeadlineSeconds", 60}});
  EXPECT_EQ(world.plan().requeue_after, Duration(57s));
  world.pass(57s);
  world.settle();
  EXPECT_EQ(world.state(), "Failed RUNNING DeadlineExceeded");
  EXPECT_EQ(world.status("message"),
            "The RayJob has passed the activeDeadlineSeconds. StartTime: 2026-01-01T00:00:00Z. "
            "ActiveDeadlineSeconds: 60");
  EXPECT_THAT(world.last_message("Failed"), HasSubstr("it is not retried: DeadlineExceeded is not"));
  EXPECT_THAT(world.take_requests(), Contains("POST /api/jobs/" + world.job_id() + "/stop"));
  world.pass(2min);
  world.settle();
  world.restart_operator();
  world.settle();
  EXPECT_THAT(world.take_requests(), IsEmpty());
}

TEST(RayJobPlan, ADeadlineThatPassedWhileTheOperatorWasDownDoesNotFailAJobThatSucceeded) {
  World world = job_running({{"activeDeadlineSeconds", 60}});
  world.ray.set_job(world.job_id(), "SUCCEEDED", "");
  world.end_submitter("Complete");
  world.restart_operator();
  world.pass(10min);
  world.step();
  EXPECT_EQ(world.state(), "Running RUNNING") << "asks first";
  world.settle();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
}

TEST(RayJobPlan, APreRunningDeadlineNamesWhatWasWaitedFor) {
  World world(a_rayjob({{"preRunningDeadlineSeconds", 60}, {"backoffLimit", 1}}));
  world.settle();
  world.set_cluster_condition("tpuslice.dev/SlicesPlaced", "False", "no node pool matches");
  world.settle();
  EXPECT_EQ(world.plan().requeue_after, Duration(60s));
  world.pass(60s);
  world.step();
  EXPECT_EQ(world.state(), "Retrying PreRunningDeadlineExceeded") << "as upstream";
  EXPECT_THAT(world.status("message"), HasSubstr("no node pool matches"));
}

TEST(RayJobPlan, ADashboardThatDoesNotAnswerForFiveMinutesFailsTheRayJob) {
  World world = job_running({{"backoffLimit", 3}});
  world.ray.set_fault(FakeRay::Fault::kFailing);
  world.pass(3s);
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_EQ(world.status("jobStatusCheckFailureStartTime"), "2026-01-01T00:00:06Z");
  EXPECT_EQ(world.plan().requeue_after, Duration(5min));
  world.pass(5min);
  world.settle();
  EXPECT_EQ(world.state(), "Failed RUNNING JobStatusCheckTimeoutExceeded");
  EXPECT_THAT(world.last_message("Failed"), HasSubstr("it is not retried"));
}

TEST(RayJobPlan, ADashboardThatAnswersAgainEndsTheTimeOut) {
  World world = job_running();
  for (const auto fault : {FakeRay::Fault::kInvalid, FakeRay::Fault::kWrongTypes, FakeRay::Fault::kSlow}) {
    world.ray.set_fault(fault);
    world.pass(3s);
    world.settle();
    EXPECT_NE(world.status("jobStatusCheckFailureStartTime"), "");
    world.ray.set_fault(FakeRay::Fault::kNone);
    world.pass(3s);
    world.settle();
    EXPECT_EQ(world.status("jobStatusCheckFailureStartTime"), "");
  }
  // The operator was down while the time-out passed.
  world.ray.set_fault(FakeRay::Fault::kFailing);
  world.pass(3s);
  world.settle();
  world.restart_operator();
  world.ray.set_fault(FakeRay::Fault::kNone);
  world.pass(10min);
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
}

TEST(RayJobPlan, AHeadWithoutAddressIsADashboardThatDoesNotAnswer) {
  World world = job_running();
  world.lose_head();
  world.settle();
  EXPECT_NE(world.status("jobStatusCheckFailureStartTime"), "");
  world.replace_head();
  world.settle();
  EXPECT_EQ(world.status("jobStatusCheckFailureStartTime"), "");
}

TEST(RayJobPlan, FollowsAnInteractiveJobOnceItsIdIsKnown) {
  World world(a_rayjob({{"submissionMode", "InteractiveMode"}}));
  world.settle();
  EXPECT_EQ(world.job_id(), "");
  world.start_cluster();
  world.settle();
  EXPECT_EQ(world.state(), "Waiting");
  EXPECT_TRUE(world.submitter().is_null());
  world.patch_spec({{"jobId", "mine"}});
  world.ray.set_job("mine", "RUNNING", "");
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  report(world, "SUCCEEDED");
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
}

TEST(RayJobPlan, ReportsWorkersThatAreLostOnce) {
  World world = job_running({{"backoffLimit", 2}});
  world.set_workers(3);
  world.settle();
  world.set_workers(0);
  world.settle();
  EXPECT_THAT(world.take_events(), ElementsAre("WorkersLost"));
  EXPECT_THAT(world.last_message("WorkersLost"),
              AllOf(HasSubstr("has 3 of 4 workers: a slice that lost a host is rebuilt with all its hosts"),
                    HasSubstr("if the job fails, it is retried with a new RayCluster, attempt 2 of 3")));
  EXPECT_THAT(world.condition(kClusterReady), StartsWith("False WorkersLost: "));
  world.end_submitter("Failed");
  report(world, "FAILED", "actor died");
  EXPECT_THAT(world.last_message("Retrying"), AllOf(HasSubstr("actor died; RayCluster"), HasSubstr("0 of 4 workers")));
}

TEST(RayJobPlan, WorkersThatReturnAreReported) {
  World world = job_running();
  world.set_workers(0);
  world.settle();
  world.set_workers(4);
  world.settle();
  EXPECT_THAT(world.condition(kClusterReady), StartsWith("True"));
  EXPECT_EQ(world.state(), "Running RUNNING");
}

TEST(RayJobPlan, IsLeftToAnotherManager) {
  World world(a_rayjob({{"managedBy", "kueue.x-k8s.io/multikueue"}}));
  const plan::Plan plan = world.plan();
  EXPECT_TRUE(plan.empty());
  EXPECT_THAT(plan.requests, IsEmpty());
}

TEST(RayJobPlan, FailedCreatesAreReported) {
  World world(a_rayjob());
  world.step();
  world.fail("FailedRayCluster", "quota exceeded");
  EXPECT_THAT(to_json(world.plan()).dump(), HasSubstr("quota exceeded"));
}

/// A plan whose write fails sends no requests, and without requests the Ray job is not followed.
TEST(RayJobPlan, FollowsTheJobWhileItsServiceIsRefused) {
  World world(a_rayjob());
  world.refuse([](const plan::Action& action) -> std::optional<Error> {
    if (action.type != kServices) return std::nullopt;
    return Error::of(ErrorCode::kInvalid, "provided port is already allocated");
  });
  world.settle();
  world.start_cluster();
  world.settle();
  EXPECT_EQ(world.state(), "Running");
  EXPECT_TRUE(world.service().is_null());
  const plan::Plan plan = world.plan();
  EXPECT_TRUE(plan.keeps_failure);
  EXPECT_EQ(plan.requeue_after, plan::kRefusalRetry);
  EXPECT_THAT(world.condition(plan::kChildrenReady), StartsWith("False FailedService: provided port"));
  EXPECT_THAT(world.take_requests(), Not(IsEmpty()));
  world.pass(plan::kRefusalRetry);
  EXPECT_THAT(writes_of(world.plan(), "create Service"), ElementsAre("create Service train-head-svc"));
}

TEST(RayJobPlan, NamesOfOthersAreConflicts) {
  World cluster(a_rayjob());
  cluster.step();
  cluster.add_foreign_cluster(cluster.status("rayClusterName"));
  cluster.settle();
  EXPECT_THAT(cluster.condition(plan::kChildrenReady), StartsWith("False ChildConflict: raycluster default/train-"));
  EXPECT_EQ(cluster.plan().requeue_after, plan::kConflictRetry);

  World submitter(a_rayjob());
  submitter.add_foreign_submitter();
  submitter.settle();
  submitter.start_cluster();
  submitter.settle();
  EXPECT_EQ(submitter.state(), "Initializing");
  EXPECT_EQ(submitter.condition(plan::kChildrenReady),
            "False ChildConflict: job default/train has no controller: delete it, or rename the RayJob");

  World service(a_rayjob());
  service.add_foreign_service();
  service.settle();
  service.start_cluster();
  service.settle();
  EXPECT_EQ(service.state(), "Running");
  EXPECT_EQ(service.condition(plan::kChildrenReady),
            "False ChildConflict: service default/train-head-svc has no controller: delete it");
}

}  // namespace
}  // namespace tpuslice::rayjob
