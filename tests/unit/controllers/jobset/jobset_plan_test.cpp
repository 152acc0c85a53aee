#include "controllers/jobset/jobset_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/conditions.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using plan::Plan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

World settled(const JobSetBuilder& jobset) {
  World world = jobset.world();
  world.settle();
  return world;
}

std::string of_status(const World& world, std::string_view type) {
  return condition(array_at(world.jobset().json(), {"status", "conditions"}), type);
}

JobSetBuilder of_two_slices() { return a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4").restarts(2); }

TEST(JobSetPlan, CreatesTheServiceThenAllJobsAtOnce) {
  const Plan out = a_jobset("train").job("driver").job("workers", 2).world().plan();
  EXPECT_THAT(stages_of(out), ElementsAre(ElementsAre("create Service train"),
                                          ElementsAre("create Job train-driver-0", "create Job train-workers-0",
                                                      "create Job train-workers-1")));
  EXPECT_EQ(out.reason,
            "headless service train is missing: creating it; creating 1 job (train-driver-0); creating 2 jobs "
            "(train-workers-0, train-workers-1)");
  ASSERT_TRUE(out.status.has_value());
  EXPECT_EQ(out.status->status["restarts"], 0);
  EXPECT_EQ(action_of(out, "create Job train-driver-0").failure_reason, "JobCreationFailed");
}

TEST(JobSetPlan, CreatesALimitedNumberOfJobs) {
  World world = a_jobset("train").job("workers", 2500).world();
  const auto creates = [&] {
    const Plan next = world.plan();
    const auto stages = stages_of(next);
    EXPECT_TRUE(world.carry_out(next));
    return stages.empty() ? 0 : stages.back().size();
  };
  EXPECT_EQ(creates(), 1000U);
  EXPECT_EQ(creates(), 1000U);
  EXPECT_EQ(creates(), 500U);
}

TEST(JobSetPlan, IsEmptyAtRest) {
  World world = settled(of_two_slices());
  for (const Duration later : {Duration(1s), Duration(1h), Duration(24h * 400)}) {
    world.now() = after(later);
    EXPECT_TRUE(world.plan().empty());
    EXPECT_EQ(world.plan().requeue_after, std::nullopt);
  }
}

TEST(JobSetPlan, CreatesOnlyMissingJobs) {
  World world = settled(of_two_slices());
  world.without_job("train-workers-1");
  EXPECT_THAT(stages_of(world.plan()), ElementsAre(ElementsAre("create Job train-workers-1")));
}

TEST(JobSetPlan, CreatesADeletedServiceAgain) {
  World world = settled(of_two_slices());
  world.without_service();
  EXPECT_THAT(stages_of(world.plan()), ElementsAre(ElementsAre("create Service train")));
}

TEST(JobSetPlan, IsTheSameForTheSameObservation) {
  const World world = of_two_slices().world();
  EXPECT_EQ(to_json(world.plan()).dump(), to_json(world.plan()).dump());
}

TEST(JobSetPlan, IsEmptyForAJobSetThatIsBeingDeletedOrIsManagedElsewhere) {
  World leaving = of_two_slices().everywhere(failed("x"));
  EXPECT_TRUE(leaving.set("/metadata/deletionTimestamp", "2026-01-01T00:00:00Z").plan().empty());
  EXPECT_TRUE(of_two_slices().set("/spec/managedBy", "kueue.x-k8s.io/multikueue").world().plan().empty());
}

TEST(JobSetPlan, MarksAStatusOfWhichOnlyCountsOfJobsChange) {
  World world = settled(of_two_slices());
  world.job("train-workers-0", active);
  const Plan out = world.plan();
  ASSERT_TRUE(out.status);
  EXPECT_TRUE(out.status->counts_only) << out.status->status.dump(2);
}

TEST(JobSetPlan, CountsARestartFirstThenDeletesThenCreates) {
  World world = settled(of_two_slices());
  world.job("train-workers-0", failed("BackoffLimitExceeded", "x", 10s));
  const Plan judged = world.plan();
  EXPECT_THAT(judged.stages, IsEmpty());
  EXPECT_EQ(judged.status->status["restarts"], 1);
  EXPECT_EQ(judged.status->status["restartsCountTowardsMax"], 1);
  EXPECT_FALSE(judged.status->counts_only);
  EXPECT_TRUE(world.carry_out(judged));
  const Plan deleted = world.plan();
  ASSERT_THAT(stages_of(deleted), ElementsAre(ElementsAre("delete Job train-workers-0 Foreground",
                                                          "delete Job train-workers-1 Foreground")));
  EXPECT_EQ(deleted.reason, "deleting 2 jobs (train-workers-0, train-workers-1): they belong to a previous attempt");
  EXPECT_TRUE(deleted.stages[0].independent);
  EXPECT_TRUE(world.carry_out(deleted));
  EXPECT_THAT(stages_of(world.plan()), IsEmpty()) << "the names are still taken";
  EXPECT_EQ(world.plan().requeue_after, 10s) << "when a slow deletion is reported";
  world.advance();
  EXPECT_THAT(stages_of(world.plan()),
              ElementsAre(ElementsAre("create Job train-workers-0", "create Job train-workers-1")));
  world.settle();
  EXPECT_EQ(of_status(world, kRestarting), "False JobsReady: all jobs are ready");
  EXPECT_THAT(of_status(world, kJobsStarted), testing::StartsWith("True "));
}

TEST(JobSetPlan, RestartsWhilePodsTerminateIfRequestedAndGated) {
  World world = settled(of_two_slices().annotation(std::string(kRestartAt), "FailureTarget"));
  world.job("train-workers-0", with_condition("FailureTarget"));
  world.options = {.mutation = {.kinds = own_kinds(), .gate = true}};
  world.step();
  const Plan deleted = world.plan();
  ASSERT_THAT(stages_of(deleted), ElementsAre(ElementsAre("delete Job train-workers-0 Background",
                                                          "delete Job train-workers-1 Background")));
  EXPECT_TRUE(world.carry_out(deleted));
  EXPECT_THAT(stages_of(world.plan()),
              ElementsAre(ElementsAre("create Job train-workers-0", "create Job train-workers-1")));
}

TEST(JobSetPlan, CreatesEachJobOfANewAttemptOnceItsNameIsFree) {
  World world = settled(of_two_slices());
  world.set("/status/restarts", 1).without_job("train-workers-1").job("train-workers-0", being_deleted());
  world.now() = after(1min);
  EXPECT_THAT(stages_of(world.plan()), ElementsAre(ElementsAre("create Job train-workers-1")));
  world.set("/spec/failurePolicy/restartStrategy", "BlockingRecreate");
  const Plan blocked = world.plan();
  EXPECT_THAT(stages_of(blocked), IsEmpty());
  EXPECT_EQ(condition(blocked.status->status["conditions"], kJobsStarted),
            "False Deletion: 1 job is still being deleted: train-workers-0; jobs of the previous attempt still exist");
}

TEST(JobSetPlan, FailsAtMaxRestartsAndDeletesActiveJobs) {
  World world = settled(a_jobset("train").job("workers", 2).restarts(0));
  world.job("train-workers-0", failed("x"));
  world.settle();
  EXPECT_THAT(of_status(world, kFailed), HasSubstr("True ReachedMaxRestarts: "));
  EXPECT_EQ(world.status()["terminalState"], "Failed");
  EXPECT_THAT(world.jobs(), ElementsAre(testing::Key("train-workers-0"))) << "the failed Job is kept for inspection";
}

TEST(JobSetPlan, AppliesTheFailurePolicyBeforeAnythingElse) {
  World world = a_jobset("train").job("driver").job("workers", 2).restarts(1).everywhere(succeeded);
  world.job("train-driver-0", failed("x")).without_job("train-workers-1").without_service();
  world.set("/spec/successPolicy", {{"operator", "Any"}, {"targetReplicatedJobs", {"workers"}}});
  const Plan out = world.plan();
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_EQ(out.status->status["restarts"], 1);
  EXPECT_EQ(condition(out.status->status["conditions"], kCompleted), "");
}

TEST(JobSetPlan, CompletesBeforeItCreatesMissingJobs) {
  World world = a_jobset("train").job("driver").job("workers", 2).everywhere(succeeded);
  world.without_job("train-workers-1").set("/spec/successPolicy/operator", "Any");
  const Plan out = world.plan();
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_EQ(out.reason, "jobset completed successfully");
  EXPECT_EQ(out.status->status["terminalState"], "Completed");
}

TEST(JobSetPlan, DropsWaitsOnceTheJobSetIsFinished) {
  World world = a_jobset("train").job("a").job("b").depends_on("a", "Complete").world();
  world.set("/spec/successPolicy", {{"operator", "All"}, {"targetReplicatedJobs", {"a"}}});
  world.settle();
  EXPECT_EQ(of_status(world, kJobsStarted),
            "False DependsOn: replicated job b waits for a to be Complete: 0 of 1 jobs are");
  world.job("train-a-0", succeeded);
  world.settle();
  EXPECT_EQ(world.status()["terminalState"], "Completed");
  EXPECT_EQ(of_status(world, kJobsStarted), "False Finished: the JobSet is finished");
}

TEST(JobSetPlan, StartsAChainOfDependenciesInTurn) {
  World world = a_jobset("train").job("a").job("b").depends_on("a", "Ready").job("c").depends_on("b", "Ready").world();
  EXPECT_THAT(world.step().reason, HasSubstr("creating 1 job (train-a-0)"));
  world.advance();
  EXPECT_EQ(world.step().reason, "creating 1 job (train-b-0)");
  world.advance();
  EXPECT_EQ(world.step().reason, "creating 1 job (train-c-0)");
  world.settle();
  EXPECT_THAT(of_status(world, kJobsStarted), testing::StartsWith("True "));
}

TEST(JobSetPlan, StartsInOrder) {
  World world = a_jobset("train").job("a").job("b", 2).in_order().world();
  world.step();
  world.advance();
  EXPECT_EQ(world.step().reason, "creating 2 jobs (train-b-0, train-b-1)");
  world.settle();
  EXPECT_THAT(of_status(world, kStartupCompleted), HasSubstr("True "));
  EXPECT_THAT(of_status(world, kStartupInProgress), HasSubstr("False "));
}

TEST(JobSetPlan, IsSuspendedOrResumedOnceTheJobsAre) {
  World world = settled(of_two_slices());
  const auto try_while_refused = [&world] {
    world.refuse([](const plan::Action& action) -> std::optional<Error> {
      if (action.key.name != "train-workers-1") return std::nullopt;
      return Error::of(ErrorCode::kForbidden, "denied");
    });
    EXPECT_FALSE(world.carry_out(world.plan()));
    // As the controller does after a failure.
    world.apply(*world.plan().status);
    world.refuse(nullptr);
  };
  world.set("/spec/suspend", true);
  try_while_refused();
  EXPECT_EQ(of_status(world, kSuspended), "");
  world.settle();
  EXPECT_THAT(of_status(world, kSuspended), HasSubstr("True "));
  world.set("/spec/suspend", false);
  try_while_refused();
  EXPECT_THAT(of_status(world, kSuspended), HasSubstr("True "));
  world.settle();
  EXPECT_THAT(of_status(world, kSuspended), HasSubstr("False "));
}

TEST(JobSetPlan, SuspendsAndResumes) {
  World world = settled(of_two_slices());
  world.set("/spec/suspend", true);
  EXPECT_THAT(stages_of(world.plan()),
              ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  world.settle();
  EXPECT_EQ(of_status(world, kSuspended), "True SuspendedJobs: jobset is suspended");
  EXPECT_EQ(world.status()["replicatedJobsStatus"][0]["suspended"], 2);
  world.set("/spec/suspend", false);
  EXPECT_THAT(stages_of(world.plan()),
              ElementsAre(ElementsAre("patch JobSet train status"),
                          ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  world.settle();
  EXPECT_EQ(of_status(world, kSuspended), "False ResumeJobs: jobset is resumed");
  EXPECT_EQ(world.status()["replicatedJobsStatus"][0]["ready"], 2);
}

TEST(JobSetPlan, ClearsTheStartTimeOfAJobInAnEarlierStage) {
  World world = settled(a_jobset("train").job("workers"));
  world.set("/spec/suspend", true);
  world.settle();
  world.set("/spec/suspend", false).job("train-workers-0", with_field("/status/startTime", "2026-01-01T00:00:00Z"));
  world.set("/spec/replicatedJobs/0/template/spec/template/spec/nodeSelector", {{"pool", "a"}});
  EXPECT_THAT(stages_of(world.plan()),
              ElementsAre(ElementsAre("patch JobSet train status"), ElementsAre("patch Job train-workers-0 status"),
                          ElementsAre("patch Job train-workers-0")));
}

TEST(JobSetPlan, CreatesJobsAgainForAnotherTopology) {
  World world = settled(of_two_slices().suspend());
  Json& job = world.jobset().mutable_json()["spec"]["replicatedJobs"][0]["template"]["spec"];
  job["parallelism"] = job["completions"] = 16;
  job["template"]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] = "8x8";
  world.set("/spec/suspend", false);
  world.settle();
  const Json& created = world.jobs().at("train-workers-1");
  EXPECT_EQ(created["spec"]["parallelism"], 16);
  EXPECT_EQ(string_at(created, {"spec", "template", "spec", "nodeSelector", tpu::kTopologyLabel}), "8x8");
}

TEST(JobSetPlan, ReportsAllErrorsOfAnInvalidSpecAndKeepsJobs) {
  World world = settled(of_two_slices());
  world.set("/spec/replicatedJobs/0/groupName", "Not A Label").set("/spec/replicatedJobs/0/dependsOn", Json::array());
  world.set("/spec/coordinator/replicatedJob", "unknown").without_job("train-workers-1");
  const Plan out = world.plan();
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_THAT(out.reason, HasSubstr("the spec is refused: "));
  const std::string accepted = condition(out.status->status["conditions"], plan::kAccepted);
  EXPECT_THAT(accepted, testing::StartsWith("False InvalidSpec: "));
  EXPECT_THAT(accepted, HasSubstr("groupName"));
  EXPECT_THAT(accepted, HasSubstr("spec.coordinator.replicatedJob"));
  ASSERT_THAT(out.events, SizeIs(1));
  EXPECT_EQ(out.events[0].reason, "InvalidJobSetSpec");
  EXPECT_TRUE(world.carry_out(out));
  EXPECT_TRUE(world.plan().empty()) << "reported once";
  world.set("/spec/replicatedJobs/0/groupName", "good").set("/spec/coordinator/replicatedJob", "workers");
  world.jobset().mutable_json()["spec"]["replicatedJobs"][0].erase("dependsOn");
  world.settle();
  EXPECT_EQ(of_status(world, plan::kAccepted), "True Accepted: the spec is valid");
}

TEST(JobSetPlan, SuspendsAJobSetWithAnInvalidSpec) {
  World world = settled(of_two_slices());
  world.set("/spec/replicatedJobs/0/groupName", "Not A Label").set("/spec/suspend", true);
  const Plan out = world.plan();
  ASSERT_THAT(stages_of(out), ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  for (const plan::Action& action : out.stages[0].actions) {
    EXPECT_EQ(*action.body.make(), Json({{"spec", {{"suspend", true}}}}));
  }
  const Json& conditions = out.status->status["conditions"];
  EXPECT_EQ(condition(conditions, kSuspended), "True SuspendedJobs: jobset is suspended");
  EXPECT_THAT(condition(conditions, plan::kAccepted), testing::StartsWith("False InvalidSpec: "));
  world.settle();
  EXPECT_EQ(int_at(world.status(), {"replicatedJobsStatus", "0", "active"}), 0) << "a queue waits for that";
  EXPECT_EQ(int_at(world.status(), {"replicatedJobsStatus", "0", "suspended"}), 2);
  EXPECT_TRUE(world.plan().empty());
  world.set("/spec/suspend", false);
  EXPECT_THAT(world.plan().stages, IsEmpty()) << "it is not resumed";
}

TEST(JobSetPlan, SuspendsJobsOfAPreviousAttemptWithAnInvalidSpec) {
  World world = settled(of_two_slices());
  world.set("/spec/replicatedJobs/0/groupName", "Not A Label").set("/spec/suspend", true).set("/status/restarts", 1);
  EXPECT_THAT(writes_of(world.plan()), ElementsAre("patch Job train-workers-0", "patch Job train-workers-1"));
}

TEST(JobSetPlan, ReportsUnsupportedFields) {
  const Plan out = of_two_slices().set("/spec/failurePolicy/restartStrategy", "InPlaceRestart").world().plan();
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_THAT(condition(out.status->status["conditions"], plan::kAccepted),
              HasSubstr("spec.failurePolicy.restartStrategy"));
}

/// Regression: every plan restarted the JobSet for the same failed Job.
TEST(JobSetPlan, RestartsOnceForAFailedJobWithoutAnAttempt) {
  World world =
      a_jobset("train").job("workers", 2).rule({{"action", "RestartJobSetAndIgnoreMaxRestarts"}}).everywhere(ready);
  world.job("train-workers-0", failed("BackoffLimitExceeded")).job("train-workers-0", without_label(kRestartAttempt));
  world.settle();
  EXPECT_EQ(world.status()["restarts"], 1);
}

/// Regression: Jobs from before a failure policy with single restarts have no attempt of their own.
TEST(JobSetPlan, RestartsASingleJobWithoutAnAttemptOnce) {
  World world =
      a_jobset("train").job("workers", 2).rule({{"action", "RestartJobAndIgnoreMaxRestarts"}}).everywhere(ready);
  world.job("train-workers-0", failed("BackoffLimitExceeded"))
      .job("train-workers-0", without_label(kJobRestartAttempt));
  world.settle();
  EXPECT_EQ(world.status()["replicatedJobsStatus"][0]["jobRestarts"], Json({1, 0}));
}

/// Regression: the JobSet failed while a Job was suspended before its deletion.
TEST(JobSetPlan, DeletesJobsOfPreviousAttemptsOfAFinishedJobSet) {
  World world = a_jobset("train").job("workers", 2).restarts(1).everywhere(failed("BackoffLimitExceeded"));
  world.set("/status", {{"restarts", 1}, {"terminalState", "Failed"}});
  world.set("/status/conditions", Json::array({{{"type", "Failed"}, {"status", "True"}}}));
  world.job("train-workers-0", of_attempt(0)).job("train-workers-0", suspended);
  world.job("train-workers-1", of_attempt(1));
  EXPECT_THAT(stages_of(world.plan()), ElementsAre(ElementsAre("delete Job train-workers-0 Foreground")));
}

TEST(JobSetPlan, DoesNotValidateAFinishedJobSet) {
  World world = of_two_slices().everywhere(succeeded);
  world.set("/status/conditions", Json::array({{{"type", "Completed"}, {"status", "True"}}}));
  world.set("/spec/failurePolicy/restartStrategy", "InPlaceRestart");
  EXPECT_THAT(condition(world.plan().status->status["conditions"], plan::kAccepted), testing::StartsWith("True "));
}

TEST(JobSetPlan, ReportsTheLastFailure) {
  World world = settled(of_two_slices());
  world.without_job("train-workers-1").fail("JobCreationFailed", "quota exceeded");
  const Plan out = world.plan();
  EXPECT_EQ(condition(out.status->status["conditions"], kJobsStarted), "False JobCreationFailed: quota exceeded");
  EXPECT_THAT(stages_of(out), ElementsAre(ElementsAre("create Job train-workers-1")));
}

TEST(JobSetPlan, DeletesTheJobSetWhenItsTtlHasPassed) {
  World world = settled(a_jobset("train").job("workers").set("/spec/ttlSecondsAfterFinished", 60));
  const Timestamp done = world.now();
  world.job("train-workers-0", succeeded);
  world.step();
  world.now() = done + 20s;
  EXPECT_TRUE(world.plan().empty());
  EXPECT_EQ(world.plan().requeue_after, 40s);
  world.now() = done + 60s;
  EXPECT_THAT(stages_of(world.plan()), ElementsAre(ElementsAre("delete JobSet train Foreground")));
}

TEST(JobSetPlan, NamesTheFirstReasonsAndCountsTheRest) {
  JobSetBuilder jobset = a_jobset("train");
  for (const char* name : {"a", "b", "c", "d", "e"}) jobset.job(name);
  EXPECT_THAT(jobset.world().plan().reason, testing::EndsWith("creating 1 job (train-c-0); and 2 more"));
}

TEST(JobSetPlan, WithoutReplicatedJobsCreatesOnlyTheService) {
  World world = a_jobset("train").world();
  EXPECT_THAT(stages_of(world.plan()), ElementsAre(ElementsAre("create Service train")));
  world.settle();
}

}  // namespace
}  // namespace tpuslice::jobset
