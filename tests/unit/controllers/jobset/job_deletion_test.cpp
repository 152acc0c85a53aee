#include "controllers/jobset/job_deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

World two_jobs(const JobChange& change) { return a_jobset("train").job("workers", 2).hosts(4).everywhere(change); }

// Decides the deletion of all Jobs and renders it.
plan::Plan deleted(const World& world, const Options& options = {}, bool replaced = true) {
  const Scene scene(world);
  const JobBuilder replacements(scene.seen.jobset, scene.state.status, options);
  Decisions decisions;
  decisions.previous =
      decide_deletions(scene.seen.jobs, scene.state.spec, replaced ? &replacements : nullptr, options, scene.seen.now);
  decisions.running.emplace();
  return scene.render(decisions).plan;
}

std::string jobs_started(const plan::Plan& plan) { return condition(plan.status->status["conditions"], kJobsStarted); }

JobChange suspended_for_deletion(Duration since) {
  return [=](Json& job) {
    job["spec"]["suspend"] = true;
    job["metadata"]["annotations"]["tpuslice.dev/deletion-pending-since"] = format_rfc3339(after(since));
  };
}

TEST(DeleteJobs, DeletesJobsAfterTheirPods) {
  const plan::Plan plan = deleted(two_jobs(ready));
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Job train-workers-0 Foreground",
                                                       "delete Job train-workers-1 Foreground")));
  EXPECT_TRUE(plan.stages[0].independent);
  EXPECT_EQ(action_of(plan, "delete Job train-workers-1 Foreground").preconditions.uid, "uid-of-train-workers-1");
  EXPECT_EQ(plan.reason, "deleting 2 jobs (train-workers-0, train-workers-1): they belong to a previous attempt");
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(DeleteJobs, DeletesAJobBeforeItsPodsIfTheRestartMayOverlap) {
  World world = a_jobset("train")
                    .job("workers", 2)
                    .hosts(4)
                    .tpu(kV6e, "4x4")
                    .annotation("tpuslice.dev/restart-at", "FailureTarget")
                    .everywhere(ready);
  world.job("train-workers-1", active);
  const plan::Plan plan = deleted(world, {.mutation = {.kinds = own_kinds(), .gate = true}});
  const std::string version = world.observed().jobs[0]->resource_version;
  ASSERT_NE(version, "");
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Job train-workers-0 Background",
                                                       "delete Job train-workers-1 Foreground")));
  EXPECT_EQ(action_of(plan, "delete Job train-workers-0 Background").preconditions,
            (plan::Preconditions{.uid = "uid-of-train-workers-0", .resource_version = version}))
      << "the Job may have changed since";
  EXPECT_EQ(action_of(plan, "delete Job train-workers-1 Foreground").preconditions,
            (plan::Preconditions{.uid = "uid-of-train-workers-1"}));
}

TEST(DeleteJobs, AddsNothingWithoutJobs) {
  const plan::Plan plan = deleted(a_jobset("train").job("workers", 2).world());
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

struct FirstPodsCase {
  const char* name;
  JobChange state;
  bool suspended_first;
};

class JobsWithoutPods : public testing::TestWithParam<FirstPodsCase> {};

TEST_P(JobsWithoutPods, AreSuspendedFirst) {
  const plan::Plan plan = deleted(a_jobset("train").job("workers").hosts(4).everywhere(GetParam().state));
  if (!GetParam().suspended_first) {
    EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Job train-workers-0 Foreground")));
    return;
  }
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Job train-workers-0")));
  const plan::Action patch = action_of(plan, "patch Job train-workers-0");
  EXPECT_EQ(*patch.body.make(), Json::parse(R"({"spec": {"suspend": true},
                   "metadata": {"annotations": {"tpuslice.dev/deletion-pending-since": "2026-01-01T00:00:00Z"}}})"));
  EXPECT_EQ(patch.preconditions.uid, "uid-of-train-workers-0");
  EXPECT_EQ(plan.reason,
            "suspending 1 job (train-workers-0) without active pods before deletion: they belong to a previous "
            "attempt");
}

JobChange with_pods(int pods_active, int pods_succeeded) {
  return [=](Json& job) {
    active(job);
    job["status"]["active"] = pods_active;
    job["status"]["succeeded"] = pods_succeeded;
  };
}

INSTANTIATE_TEST_SUITE_P(
    All, JobsWithoutPods,
    testing::Values(FirstPodsCase{"NotReconciledYet", fresh, true}, FirstPodsCase{"NoPod", with_pods(0, 0), true},
                    FirstPodsCase{"NoPodBesidesSucceededOnes", with_pods(0, 3), true},
                    FirstPodsCase{"OnePod", with_pods(1, 0), false}, FirstPodsCase{"AllPods", with_pods(4, 0), false},
                    FirstPodsCase{"AllSucceeded", with_pods(0, 4), false},
                    FirstPodsCase{"NoPodsWanted",
                                  [](Json& job) {
                                    fresh(job);
                                    job["spec"]["parallelism"] = 0;
                                  },
                                  false},
                    FirstPodsCase{"Complete", succeeded, false}, FirstPodsCase{"Failed", failed("x"), false},
                    FirstPodsCase{"FailureTarget", with_condition("FailureTarget"), false},
                    FirstPodsCase{"SuccessCriteriaMet", with_condition("SuccessCriteriaMet"), false},
                    FirstPodsCase{"Suspended", suspended, false}),
    [](const auto& test) { return test.param.name; });

TEST(DeleteJobs, DoesNotSuspendJobsThatAreNotReplaced) {
  EXPECT_THAT(
      stages_of(deleted(two_jobs(fresh), {}, false)),
      ElementsAre(ElementsAre("delete Job train-workers-0 Foreground", "delete Job train-workers-1 Foreground")));
  World world = two_jobs(fresh);
  world.every_job(suspended_for_deletion(0s));
  EXPECT_THAT(stages_of(deleted(world, {}, false)), ElementsAre(SizeIs(2))) << "the JobSet has finished meanwhile";
}

TEST(DeleteJobs, WaitsUntilTheJobControllerHasSuspendedTheJob) {
  World world = two_jobs(fresh);
  world.every_job(suspended_for_deletion(0s));
  world.now() = after(2s);
  const plan::Plan plan = deleted(world);
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_EQ(plan.requeue_after, 3s);
}

TEST(DeleteJobs, DeletesASuspendedJob) {
  World world = two_jobs(fresh);
  world.every_job(suspended_for_deletion(0s)).job("train-workers-1", suspended);
  EXPECT_THAT(stages_of(deleted(world)), ElementsAre(ElementsAre("delete Job train-workers-1 Foreground")));
}

TEST(DeleteJobs, DeletesASuspendedJobWhoseFirstPodsWereCreatedMeanwhile) {
  World world = two_jobs(fresh);
  world.every_job(suspended_for_deletion(0s)).job("train-workers-1", with_field("/status/active", 1));
  EXPECT_THAT(stages_of(deleted(world)), ElementsAre(ElementsAre("delete Job train-workers-1 Foreground")));
}

TEST(DeleteJobs, DeletesAJobAfterTheSuspendTimeout) {
  World world = two_jobs(fresh);
  world.every_job(suspended_for_deletion(0s));
  world.now() = after(5s);
  const plan::Plan plan = deleted(world);
  EXPECT_THAT(stages_of(plan), ElementsAre(SizeIs(2)));
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(DeleteJobs, SuspendsAJobAgainThatAUserResumed) {
  World world = two_jobs(fresh);
  world.every_job(suspended_for_deletion(0s)).every_job(with_field("/spec/suspend", false));
  world.now() = after(60s);
  const plan::Plan plan = deleted(world);
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  EXPECT_EQ(string_at(*action_of(plan, "patch Job train-workers-0").body.make(),
                      {"metadata", "annotations", kDeletionPendingSince}),
            "2026-01-01T00:01:00Z");
}

TEST(DeleteJobs, ReportsOnlySlowDeletions) {
  World world = two_jobs(ready);
  world.every_job(being_deleted(0s));
  world.now() = after(4s);
  const plan::Plan early = deleted(world);
  EXPECT_THAT(jobs_started(early), testing::StartsWith("False JobsPending: "));
  EXPECT_THAT(early.stages, IsEmpty());
  EXPECT_EQ(early.requeue_after, 6s);
  world.now() = after(10s);
  EXPECT_EQ(jobs_started(deleted(world)),
            "False Deletion: 2 jobs are still being deleted: train-workers-0, train-workers-1");
}

TEST(DeleteJobs, RequeuesAtTheDeletionTimeout) {
  World world = two_jobs(ready);
  world.job("train-workers-0", being_deleted(0s)).job("train-workers-1", being_deleted(40s));
  world.now() = after(1min);
  const plan::Plan plan = deleted(world);
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_EQ(plan.requeue_after, 4min);
}

TEST(DeleteJobs, DeletesAStuckJobBeforeItsPods) {
  World world = two_jobs(ready);
  world.job("train-workers-0", being_deleted(0s)).without_job("train-workers-1");
  world.now() = after(5min);
  const plan::Plan plan = deleted(world);
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Job train-workers-0 Background")));
  EXPECT_EQ(action_of(plan, "delete Job train-workers-0 Background").preconditions,
            (plan::Preconditions{.uid = "uid-of-train-workers-0"}));
  const std::string text =
      "job train-workers-0 has been terminating since 2026-01-01T00:00:00Z: deleting it without waiting for its pods, "
      "which are on lost nodes or have finalizers";
  EXPECT_EQ(plan.reason, text);
  EXPECT_THAT(describe(events_of(plan)),
              ElementsAre("Warning JobDeletionStuck: " + text, "Warning JobDeletionStuck: " + text + "; that failed:"))
      << "the second only if the deletion fails";
}

TEST(DeleteJobs, UsesTheDeletionTimeoutOfTheOptions) {
  World world = two_jobs(ready);
  world.every_job(being_deleted(0s));
  world.now() = after(10s);
  EXPECT_THAT(stages_of(deleted(world, {.deletion_timeout = 10s})), ElementsAre(SizeIs(2)));
}

}  // namespace
}  // namespace tpuslice::jobset
