#include "controllers/jobset/execution_attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

JobSetBuilder two_workers() { return a_jobset("train").job("workers", 2); }

/// status.executionAttempts; -1 without.
std::int64_t counted_attempts(const World& world) {
  return int32_at(world.status(), {"executionAttempts"}).value_or(-1);
}

/// The annotations of a Job and of its pods, if they are equal.
std::string shown_attempt(const World& world, const std::string& name) {
  const Json& job = world.jobs().at(name);
  const std::string of_job = string_at(job, {"metadata", "annotations", kExecutionAttempt});
  const std::string of_pods = string_at(job, {"spec", "template", "metadata", "annotations", kExecutionAttempt});
  return of_job == of_pods ? of_job : of_job + " and " + of_pods;
}

void set_suspended(World& world, bool suspended) {
  world.set("/spec/suspend", suspended);
  world.settle();
}

TEST(ExecutionAttempts, AreZeroInTheFirstExecution) {
  World world = two_workers().world();
  world.settle();
  EXPECT_EQ(counted_attempts(world), 0);
  EXPECT_EQ(shown_attempt(world, "train-workers-1"), "0");
}

TEST(ExecutionAttempts, AreAbsentUntilTheJobSetIsExecuted) {
  World world = two_workers().suspend().world();
  world.settle();
  EXPECT_EQ(counted_attempts(world), -1);
  EXPECT_EQ(shown_attempt(world, "train-workers-0"), "");
  set_suspended(world, false);
  EXPECT_EQ(counted_attempts(world), 0);
  EXPECT_EQ(shown_attempt(world, "train-workers-0"), "0");
}

TEST(ExecutionAttempts, CountEachResumeOnce) {
  World world = two_workers().world();
  world.settle();
  for (const int attempt : {1, 2, 3}) {
    set_suspended(world, true);
    EXPECT_EQ(counted_attempts(world), attempt - 1);
    set_suspended(world, false);
    EXPECT_EQ(counted_attempts(world), attempt);
    EXPECT_EQ(shown_attempt(world, "train-workers-0"), std::to_string(attempt));
    EXPECT_EQ(shown_attempt(world, "train-workers-1"), std::to_string(attempt));
  }
}

TEST(ExecutionAttempts, AreWrittenBeforeJobsAreResumed) {
  World world = two_workers().world();
  world.settle();
  set_suspended(world, true);
  world.set("/spec/suspend", false);
  const plan::Plan plan = world.plan();
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch JobSet train status"),
                                           ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  const plan::Action write = action_of(plan, "patch JobSet train status");
  EXPECT_EQ(*write.body.make(), Json::parse(R"({"status": {"executionAttempts": 1}})"));
  EXPECT_EQ(write.preconditions.uid, "uid-of-train");
}

/// Every crash in the course of a resume.
TEST(ExecutionAttempts, CountAResumeOnceWhateverFails) {
  for (std::size_t writes = 0; writes < 6; ++writes) {
    World world = two_workers().world();
    world.settle();
    set_suspended(world, true);
    world.set("/spec/suspend", false);
    world.carry_out(world.plan(), writes);
    world.settle();
    EXPECT_EQ(counted_attempts(world), 1) << writes;
    EXPECT_EQ(shown_attempt(world, "train-workers-0"), "1") << writes;
    EXPECT_EQ(shown_attempt(world, "train-workers-1"), "1") << writes;
  }
}

TEST(ExecutionAttempts, CountAResumeOnceWhileJobsStartInOrder) {
  World world = a_jobset("train").job("first").job("second").in_order().world();
  world.settle();
  set_suspended(world, true);
  world.set("/spec/suspend", false);
  for (int round = 0; round < 3; ++round) {
    world.step();
    EXPECT_EQ(counted_attempts(world), 1);
  }
  world.settle();
  EXPECT_EQ(counted_attempts(world), 1);
  EXPECT_EQ(shown_attempt(world, "train-second-0"), "1");
}

TEST(ExecutionAttempts, CountRestartsOfAllJobs) {
  World world = two_workers().restarts(3).world();
  world.settle();
  world.job("train-workers-1", failed("BackoffLimitExceeded"));
  world.settle();
  EXPECT_EQ(counted_attempts(world), 1);
  EXPECT_EQ(int_at(world.status(), {"restarts"}), 1);
  EXPECT_EQ(shown_attempt(world, "train-workers-0"), "1");
  set_suspended(world, true);
  set_suspended(world, false);
  EXPECT_EQ(counted_attempts(world), 2);
  EXPECT_EQ(int_at(world.status(), {"restarts"}), 1);
}

TEST(ExecutionAttempts, CountNoRestartOfASingleJob) {
  World world = two_workers().restarts(3).rule({{"action", "RestartJob"}}).world();
  world.settle();
  world.job("train-workers-1", failed("BackoffLimitExceeded"));
  world.settle();
  EXPECT_EQ(counted_attempts(world), 0);
  EXPECT_EQ(shown_attempt(world, "train-workers-1"), "0");
}

/// A JobSet from before attempts were counted: the restarts are counted, and its Jobs get the annotation when they are
/// suspended, so that the resume is.
TEST(ExecutionAttempts, BeginWithTheRestartsOfARunningJobSet) {
  World world = two_workers().restarts(3).everywhere(ready);
  world.set("/status/restarts", 2);
  world.every_job(of_attempt(2));
  world.settle();
  EXPECT_EQ(counted_attempts(world), 2);
  EXPECT_EQ(shown_attempt(world, "train-workers-0"), "") << "templates of running Jobs are immutable";
  set_suspended(world, true);
  set_suspended(world, false);
  EXPECT_EQ(counted_attempts(world), 3);
  EXPECT_EQ(shown_attempt(world, "train-workers-0"), "3");
}

TEST(ExecutionAttempts, OfASuspendedJobSetThatHadRestartedAreMoreThanItsRestarts) {
  World world = two_workers().restarts(3).suspend().everywhere(suspended);
  world.set("/status/restarts", 2);
  world.every_job(of_attempt(2));
  world.settle();
  set_suspended(world, false);
  EXPECT_EQ(counted_attempts(world), 3);
}

TEST(ExecutionAttempts, StayWhenTheJobSetHasFinished) {
  World world = two_workers().world();
  world.settle();
  set_suspended(world, true);
  set_suspended(world, false);
  world.every_job(succeeded);
  world.settle();
  EXPECT_EQ(counted_attempts(world), 1);
  EXPECT_EQ(string_at(world.status(), {"terminalState"}), "Completed");
}

/// An older CRD has no such field: the API server drops it.
TEST(ExecutionAttempts, ThatTheServerDropsHoldNothingBack) {
  World world = two_workers().world();
  const auto forget = [&] { world.jobset().mutable_json()["status"].erase("executionAttempts"); };
  world.step();
  forget();
  world.every_job(ready);
  world.set("/spec/suspend", true);
  for (int round = 0; round < 3; ++round) {
    world.step();
    forget();
    world.advance();
  }
  world.set("/spec/suspend", false);
  for (int round = 0; round < 3; ++round) {
    world.step();
    forget();
    world.advance();
  }
  EXPECT_EQ(condition(world.status()["conditions"], kSuspended), "False ResumeJobs: jobset is resumed");
  EXPECT_FALSE(bool_at(world.jobs().at("train-workers-0"), {"spec", "suspend"}));
}

TEST(ExecutionAttempts, OutOfRangeDoNoHarm) {
  World world = two_workers().everywhere(ready);
  world.set("/status/executionAttempts", -5);
  world.step();
  EXPECT_EQ(counted_attempts(world), 0);
  EXPECT_EQ(attempt_after_restart(std::numeric_limits<std::int32_t>::max(), 1),
            std::numeric_limits<std::int32_t>::max());
}

}  // namespace
}  // namespace tpuslice::jobset
