#include "controllers/jobset/active_deadline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// It may be active for 100 s, and is since 10 s unless `started` is empty.
World train(const JobChange& jobs = ready, const char* started = "2026-01-01T00:00:10Z") {
  JobSetBuilder jobset = a_jobset("train").set("/spec/activeDeadlineSeconds", 100);
  World world = jobset.job("workers", 2).everywhere(jobs);
  if (*started != 0) world.set("/status/startTime", started);
  return world;
}

plan::Plan plan_at(World world, Duration now) {
  world.now() = after(now);
  return plan_jobset(world.observed(), {});
}

std::string start_time(const plan::Plan& plan) { return string_at(plan.status->status, {"startTime"}); }

std::vector<std::string> counted(const plan::Plan& plan) {
  EXPECT_THAT(plan, plan::CountsOnly(kCounters));
  std::vector<std::string> names;
  for (const plan::Measurement& each : plan.measurements) names.push_back(each.name);
  return names;
}

std::string failure(const plan::Plan& plan) {
  return condition(array_at(plan.status->status, {"conditions"}), kFailed);
}

TEST(ActiveDeadline, CountsFromTheFirstPlan) {
  const plan::Plan plan = plan_at(train(ready, ""), 7s);
  EXPECT_EQ(start_time(plan), "2026-01-01T00:00:07Z");
  EXPECT_EQ(start_time(plan_at(train(), 50s)), "2026-01-01T00:00:10Z");
}

TEST(ActiveDeadline, IsWaitedFor) {
  const plan::Plan plan = plan_at(train(), 50s);
  EXPECT_EQ(plan.requeue_after, 60s);
  EXPECT_EQ(failure(plan), "");
}

TEST(ActiveDeadline, FailsTheJobSet) {
  const plan::Plan plan = plan_at(train(), 110s);
  EXPECT_EQ(failure(plan), "True DeadlineExceeded: JobSet was active for 100s, exceeding the 100s deadline");
  EXPECT_EQ(string_at(plan.status->status, {"terminalState"}), "Failed");
  EXPECT_THAT(plan, plan::HasEvent("DeadlineExceeded"));
  EXPECT_THAT(counted(plan), ElementsAre("tpuslice_jobsets_finished_total", "jobset_failed_total",
                                         "jobset_active_deadline_exceeded_total"));
}

TEST(ActiveDeadline, ComesBeforeTheFailurePolicy) {
  World world = train(failed("BackoffLimitExceeded"));
  world.set("/spec/failurePolicy", {{"maxRestarts", 5}});
  EXPECT_EQ(failure(plan_at(world, 2min)),
            "True DeadlineExceeded: JobSet was active for 110s, exceeding the 100s deadline");
}

TEST(ActiveDeadline, ComesAfterTheSuccessPolicy) {
  const plan::Plan plan = plan_at(train(succeeded), 2min);
  EXPECT_EQ(failure(plan), "");
  EXPECT_EQ(string_at(plan.status->status, {"terminalState"}), "Completed");
}

TEST(ActiveDeadline, CountsAgainWhenAllJobsRestart) {
  World world = train(failed("BackoffLimitExceeded"));
  world.set("/spec/failurePolicy", {{"maxRestarts", 5}});
  const plan::Plan plan = plan_at(world, 60s);
  EXPECT_EQ(start_time(plan), "2026-01-01T00:01:00Z");
  EXPECT_EQ(int_at(plan.status->status, {"restarts"}), 1);
}

TEST(ActiveDeadline, DoesNotCountWhileTheJobSetIsSuspended) {
  World world = train();
  world.set("/spec/suspend", true);
  const plan::Plan plan = plan_at(world, 10min);
  EXPECT_EQ(failure(plan), "");
  EXPECT_EQ(start_time(plan), "");
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(ActiveDeadline, IsNotReadOnceTheJobSetHasFinished) {
  World world = train(succeeded);
  world.set("/status/conditions", Json::array({{{"type", "Completed"}, {"status", "True"}}}));
  const plan::Plan plan = plan_at(world, 10min);
  EXPECT_EQ(failure(plan), "");
}

TEST(ActiveDeadline, MayBeLongerThanTimesCanExpress) {
  World world = train();
  world.set("/spec/activeDeadlineSeconds", std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(failure(plan_at(world, 10min)), "");
}

}  // namespace
}  // namespace tpuslice::jobset
