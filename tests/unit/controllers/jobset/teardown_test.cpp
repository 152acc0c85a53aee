#include "controllers/jobset/teardown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

World two_jobs(const JobChange& change) { return a_jobset("train").job("workers", 2).hosts(4).everywhere(change); }

void tear_down_in(Scene& scene) {
  tear_down(scene.children.active, "their attempt is over", nullptr, {}, scene.changes);
}

JobChange quieted(Duration since) {
  return [=](Json& job) {
    job["spec"]["suspend"] = true;
    job["metadata"]["annotations"]["tpuslice.dev/ending-since"] = format_rfc3339(after(since));
  };
}

TEST(TearDown, DeletesJobsAfterTheirPodsAndSaysWhy) {
  Scene scene(two_jobs(ready));
  tear_down_in(scene);
  EXPECT_THAT(told(scene.changes.deletes),
              ElementsAre("delete train-workers-0 Foreground", "delete train-workers-1 Foreground"));
  EXPECT_EQ(scene.changes.deletes[1].preconditions.uid, "uid-of-train-workers-1");
  EXPECT_THAT(scene.changes.reasons,
              ElementsAre("deleting 2 jobs (train-workers-0, train-workers-1): their attempt is over"));
  EXPECT_EQ(scene.changes.requeue_after, std::nullopt);
}

TEST(TearDown, LetsAJobGoFirstWhoseSuccessorWaitsForItsPods) {
  World world = a_jobset("train")
                    .job("workers", 2)
                    .hosts(4)
                    .tpu(kV6e, "4x4")
                    .annotation("tpuslice.dev/restart-at", "FailureTarget")
                    .everywhere(ready);
  world.job("train-workers-1", active);
  Scene scene(world);
  const Options options{.mutation = {.gate = true}};
  const JobBuilder successors(scene.seen.jobset, scene.changes.status, options);
  tear_down(scene.children.active, "so", &successors, options, scene.changes);
  ASSERT_NE(scene.seen.jobs[0]->resource_version, "");
  ASSERT_THAT(told(scene.changes.deletes),
              ElementsAre("delete train-workers-0 Background", "delete train-workers-1 Foreground"));
  EXPECT_EQ(scene.changes.deletes[0].preconditions,
            (runtime::Preconditions{.uid = "uid-of-train-workers-0",
                                    .resource_version = scene.seen.jobs[0]->resource_version}))
      << "the Job controller may have done something since";
  EXPECT_EQ(scene.changes.deletes[1].preconditions, (runtime::Preconditions{.uid = "uid-of-train-workers-1"}));
  EXPECT_THAT(scene.changes.reasons, ElementsAre("deleting 2 jobs (train-workers-0, train-workers-1): so"));
}

TEST(TearDown, OfNothingIsNothing) {
  Scene scene(a_jobset("train").job("workers", 2).world());
  tear_down_in(scene);
  EXPECT_THAT(scene.changes.deletes, IsEmpty());
  EXPECT_THAT(scene.changes.reasons, IsEmpty());
  EXPECT_THAT(scene.changes.waits, IsEmpty());
}

struct FormingCase {
  const char* name;
  JobChange state;
  bool forming;
};

class FormingJobs : public testing::TestWithParam<FormingCase> {};

TEST_P(FormingJobs, AreSuspendedFirst) {
  Scene scene(a_jobset("train").job("workers").hosts(4).everywhere(GetParam().state));
  tear_down({scene.seen.jobs[0]}, "so", nullptr, {}, scene.changes);
  ASSERT_THAT(scene.changes.deletes, SizeIs(1));
  if (!GetParam().forming) {
    EXPECT_THAT(told(scene.changes.deletes), ElementsAre("delete train-workers-0 Foreground"));
    return;
  }
  EXPECT_EQ(*scene.changes.deletes[0].body.make(), Json::parse(R"({"spec": {"suspend": true},
                            "metadata": {"annotations": {"tpuslice.dev/ending-since": "2026-01-01T00:00:00Z"}}})"));
  EXPECT_EQ(scene.changes.deletes[0].preconditions.uid, "uid-of-train-workers-0");
  EXPECT_THAT(
      scene.changes.reasons,
      ElementsAre("suspending 1 job (train-workers-0) whose pods are still being created, before deletion: so"));
}

JobChange with_pods(int pods_active, int pods_succeeded) {
  return [=](Json& job) {
    active(job);
    job["status"]["active"] = pods_active;
    job["status"]["succeeded"] = pods_succeeded;
  };
}

INSTANTIATE_TEST_SUITE_P(All, FormingJobs,
                         testing::Values(FormingCase{"NotLookedAtYet", fresh, true},
                                         FormingCase{"NoPodYet", with_pods(0, 0), true},
                                         FormingCase{"OnePodIsMissing", with_pods(3, 0), true},
                                         FormingCase{"AllPodsAreThere", with_pods(4, 0), false},
                                         FormingCase{"TheOthersHaveSucceeded", with_pods(1, 3), false},
                                         FormingCase{"Complete", succeeded, false},
                                         FormingCase{"Failed", failed("x"), false},
                                         FormingCase{"BoundToFail", with_condition("FailureTarget"), false},
                                         FormingCase{"BoundToSucceed", with_condition("SuccessCriteriaMet"), false},
                                         FormingCase{"Suspended", suspended, false}),
                         [](const auto& test) { return test.param.name; });

TEST(TearDown, WaitsForASuspendedJobToBecomeQuiet) {
  World world = two_jobs(active);
  world.every_job(quieted(0s));
  world.now() = after(12s);
  Scene scene(world);
  tear_down_in(scene);
  EXPECT_THAT(scene.changes.deletes, IsEmpty());
  EXPECT_EQ(scene.changes.requeue_after, 18s);
}

TEST(TearDown, DeletesItAsSoonAsItIs) {
  World world = two_jobs(active);
  world.every_job(quieted(0s)).job("train-workers-1", suspended);
  Scene scene(world);
  tear_down_in(scene);
  EXPECT_THAT(told(scene.changes.deletes), ElementsAre("delete train-workers-1 Foreground"));
}

TEST(TearDown, DoesNotTakeItForQuietWhilePodsAreActive) {
  World world = two_jobs(suspended);
  world.every_job(quieted(0s)).job("train-workers-1", with_field("/status/active", 1));
  Scene scene(world);
  tear_down_in(scene);
  EXPECT_THAT(told(scene.changes.deletes), ElementsAre("delete train-workers-0 Foreground"));
}

TEST(TearDown, DeletesItWhenItHasWaitedLongEnough) {
  World world = two_jobs(active);
  world.every_job(quieted(0s));
  world.now() = after(30s);
  Scene scene(world);
  tear_down_in(scene);
  EXPECT_THAT(scene.changes.deletes, SizeIs(2));
  EXPECT_EQ(scene.changes.requeue_after, std::nullopt);
}

TEST(TearDown, QuietsAJobAgainThatSomebodyHasResumed) {
  World world = two_jobs(fresh);
  world.every_job(quieted(0s)).every_job(with_field("/spec/suspend", false));
  world.now() = after(60s);
  Scene scene(world);
  tear_down_in(scene);
  ASSERT_THAT(told(scene.changes.deletes), ElementsAre("patch train-workers-0", "patch train-workers-1"));
  EXPECT_EQ(string_at(*scene.changes.deletes[0].body.make(), {"metadata", "annotations", kEndingSince}),
            "2026-01-01T00:01:00Z");
}

TEST(TearDown, SaysWhoIsBeingDeletedOnlyWhenThatTakesAWhile) {
  World world = two_jobs(ready);
  world.every_job(being_deleted(0s));
  world.now() = after(4s);
  Scene early(world);
  tear_down_in(early);
  EXPECT_THAT(early.changes.waits, IsEmpty());
  EXPECT_THAT(early.changes.deletes, IsEmpty());
  EXPECT_EQ(early.changes.requeue_after, 6s);
  world.now() = after(10s);
  Scene late(world);
  tear_down_in(late);
  ASSERT_THAT(late.changes.waits, SizeIs(1));
  EXPECT_EQ(late.changes.waits[0].reason, "Deletion");
  EXPECT_EQ(late.changes.waits[0].message, "2 jobs are still being deleted: train-workers-0, train-workers-1");
}

TEST(TearDown, LooksAgainWhenADeletionWillHaveTakenTooLong) {
  World world = two_jobs(ready);
  world.job("train-workers-0", being_deleted(0s)).job("train-workers-1", being_deleted(40s));
  world.now() = after(1min);
  Scene scene(world);
  tear_down_in(scene);
  EXPECT_THAT(scene.changes.deletes, IsEmpty());
  EXPECT_EQ(scene.changes.requeue_after, 4min);
}

TEST(TearDown, LetsAStuckJobGoBeforeItsPods) {
  World world = two_jobs(ready);
  world.job("train-workers-0", being_deleted(0s));
  world.now() = after(5min);
  Scene scene(world);
  tear_down({scene.seen.jobs[0]}, "so", nullptr, {}, scene.changes);
  EXPECT_THAT(told(scene.changes.deletes), ElementsAre("delete train-workers-0 Background"));
  EXPECT_EQ(scene.changes.deletes[0].preconditions.uid, "uid-of-train-workers-0");
  const std::string text =
      "job train-workers-0 is being deleted since 2026-01-01T00:00:00Z, longer than 300 s: it is let go before its "
      "pods, which are on lost nodes or have finalizers";
  EXPECT_THAT(scene.changes.reasons, ElementsAre(text));
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Warning JobDeletionStuck: " + text));
}

TEST(TearDown, HasThePatienceItIsTold) {
  World world = two_jobs(ready);
  world.every_job(being_deleted(0s));
  world.now() = after(10s);
  Scene scene(world);
  const Options options{.stuck_after = 10s};
  tear_down(scene.children.active, "so", nullptr, options, scene.changes);
  EXPECT_THAT(scene.changes.deletes, SizeIs(2));
}

}  // namespace
}  // namespace tpuslice::jobset
