#include "controllers/jobset/next_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Json upstream_condition(const char* type, const char* status) {
  return {{"type", type},
          {"status", status},
          {"reason", "Before"},
          {"message", "before"},
          {"lastTransitionTime", "2026-01-01T00:00:00Z"}};
}

Outcome completed(const World& world) {
  Decisions decisions;
  decisions.completed = true;
  return Scene(world).render(decisions);
}

Outcome without_actions(const World& world) {
  Decisions decisions;
  decisions.running.emplace();
  return Scene(world).render(decisions);
}

std::string jobs_started(const Outcome& out) { return condition(out.status.conditions, kJobsStarted); }

TEST(NextStatus, OfACompletedJobSetIsUpstreams) {
  const Outcome out = completed(a_jobset("train").job("workers").everywhere(succeeded));
  EXPECT_EQ(condition(out.status.conditions, kCompleted), "True AllJobsCompleted: jobset completed successfully");
  EXPECT_EQ(out.status.terminal_state, "Completed");
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Normal AllJobsCompleted: jobset completed successfully"));
  EXPECT_EQ(condition(out.status.conditions, kRestarting), "") << "a False condition is not added";
}

/// Upstream's counters have the JobSet as labels.
TEST(NextStatus, IsCountedForACompletedJobSet) {
  const plan::Plan plan = a_jobset("train").job("workers").everywhere(succeeded).plan();
  EXPECT_THAT(plan, plan::CountsOnly(kCounters));
  ASSERT_EQ(plan.measurements.size(), 2U);
  EXPECT_EQ(plan.measurements[1].name, "jobset_completed_total");
  EXPECT_EQ(plan.measurements[1].labels,
            (std::map<std::string, std::string>{{"jobset_name", "train"}, {"namespace", "default"}}));
}

TEST(NextStatus, SetsRestartingToFalseOnceTheJobSetIsCompleted) {
  World world = a_jobset("train").job("workers").everywhere(succeeded);
  world.set("/status/conditions", Json::array({upstream_condition("RestartingJobSet", "True")}));
  EXPECT_EQ(condition(completed(world).status.conditions, kRestarting),
            "False JobSetCompleted: jobset completed successfully");
}

TEST(NextStatus, ReportsAnUnchangedConditionOnce) {
  World world = a_jobset("train").job("workers").suspend().everywhere(suspended);
  const Outcome first = without_actions(world);
  EXPECT_THAT(describe(first.plan.events), ElementsAre("Normal SuspendedJobs: jobset is suspended"));
  world.set("/status", first.plan.status->status);
  world.now() = after(5s);
  const Outcome second = without_actions(world);
  EXPECT_THAT(second.plan.events, IsEmpty());
  EXPECT_FALSE(second.plan.status.has_value());
}

TEST(NextStatus, ListsConditionsOfUpstreamFirst) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  world.set("/status", without_actions(world).plan.status->status);
  std::vector<std::string> types;
  for (const Json& each : completed(world).status.conditions) types.push_back(string_at(each, {"type"}));
  EXPECT_THAT(types,
              ElementsAre("Completed", "tpuslice.dev/Accepted", "tpuslice.dev/JobsStarted", "tpuslice.dev/ServiceReady",
                          "tpuslice.dev/SlicesPlaced", "tpuslice.dev/ContainersStarted"));
}

TEST(NextStatus, SetsTheObservedGenerationOfOwnConditions) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  world.set("/status", without_actions(world).plan.status->status).set("/metadata/generation", 7);
  for (const Json& each : without_actions(world).status.conditions) {
    EXPECT_EQ(int_at(each, {"observedGeneration"}), 7) << each;
  }
}

TEST(NextStatus, SetsTheObservedGenerationOfConditionsThatDoNotChange) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  world.set("/status", without_actions(world).plan.status->status);
  world.set("/status", completed(world).plan.status->status).set("/metadata/generation", 7);
  for (const Json& each : completed(world).status.conditions) {
    EXPECT_EQ(int_at(each, {"observedGeneration"}), 7) << each;
  }
}

TEST(JobsStarted, IsTrueOnceTheJobControllerHasStartedAllJobs) {
  World world = a_jobset("train").job("workers", 2).everywhere(active);
  EXPECT_EQ(jobs_started(without_actions(world)), "True JobsStarted: all jobs are created");
  world.job("train-workers-1", fresh);
  const std::string pending = "False JobsPending: jobs are being created or started";
  EXPECT_EQ(jobs_started(without_actions(world)), pending);
  EXPECT_EQ(jobs_started(without_actions(world.without_job("train-workers-1"))), pending);
}

TEST(JobsStarted, IsFalseWhileJobsOfAPreviousAttemptHaveTheNames) {
  World world = a_jobset("train").job("workers", 2).everywhere(active);
  world.set("/status/restarts", 1);
  EXPECT_THAT(jobs_started(without_actions(world)), testing::StartsWith("False JobsPending: "));
}

TEST(JobsStarted, IsFalseWhileTheJobSetIsSuspended) {
  EXPECT_EQ(jobs_started(without_actions(a_jobset("train").job("workers").suspend().everywhere(suspended))),
            "False Suspended: the JobSet is suspended; jobs start when spec.suspend is false");
}

/// The Jobs have no pods, and SlicesPlaced has been False for a minute.
World without_pods() {
  World world = a_jobset("train").job("workers").everywhere([](Json& job) {
    job["status"] = {{"active", 0}, {"startTime", "2026-01-01T00:00:00Z"}};
  });
  world.set("/status", without_actions(world).plan.status->status);
  world.now() += 1min;
  return world;
}

TEST(RefusedPodsOfAJobSet, AreACondition) {
  World world = without_pods();
  const Outcome asking = without_actions(world);
  ASSERT_EQ(asking.plan.requests.size(), 1U);
  EXPECT_EQ(condition(asking.status.conditions, plan::kSlicesPlaced).substr(0, 17), "False PodsPending");
  const plan::WorkloadAnswer refused{
      asking.plan.requests[0],
      200,
      {{"message", "Error creating: pods \"train-workers-0-0-\" is forbidden: exceeded quota: q"},
       {"time", format_rfc3339(world.now())}},
      {},
      world.now()};
  Decisions decisions;
  decisions.running.emplace();
  JobSetObserved seen = world.observed();
  seen.answers = plan::WorkloadAnswers({std::make_shared<const plan::WorkloadAnswer>(refused)});
  const JobSetState state(seen);
  plan::Changes changes;
  const JobSetStatus status = next_status(state, decisions, changes);
  const char* text = "Job train-workers-0 lacks pods: pods \"train-workers-0-*\" is forbidden: exceeded quota: q";
  EXPECT_EQ(condition(status.conditions, plan::kSlicesPlaced), std::string("False PodsRefused: ") + text);
  EXPECT_THAT(describe(changes.events), ElementsAre(std::string("Warning PodsRefused: ") + text));
  world.set("/status/conditions", status.conditions);
  JobSetObserved again = world.observed();
  again.answers = seen.answers;
  const JobSetState known(again);
  plan::Changes unchanged;
  EXPECT_EQ(next_status(known, decisions, unchanged).conditions, status.conditions);
  EXPECT_THAT(unchanged.events, IsEmpty()) << "reported once";
}

TEST(RefusedPodsOfAJobSet, AreAskedForOnlyIfAJobLacksPods) {
  World world = without_pods();
  world.every_job([](Json& job) { job["spec"]["suspend"] = true; });
  EXPECT_THAT(without_actions(world).plan.requests, IsEmpty()) << "the Job is suspended";
  world.every_job([](Json& job) {
    job["spec"]["suspend"] = false;
    job["status"]["active"] = 100;
  });
  EXPECT_THAT(without_actions(world).plan.requests, IsEmpty());
}

TEST(JobsStarted, StaysTrueOnceTheJobSetIsFinished) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  EXPECT_EQ(jobs_started(completed(world)), "False Finished: the JobSet is finished");
  world.set("/status", without_actions(world).plan.status->status);
  EXPECT_EQ(jobs_started(completed(world)), "True JobsStarted: all jobs are created");
}

TEST(RefusedStatus, KeepsOtherConditionsAndReportsTheProblemOnce) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  world.set("/status", without_actions(world).plan.status->status);
  const Problem refusal{"InvalidSpec", "spec.x: Invalid value"};
  const Scene scene(world);
  const plan::Plan plan = render_refusal(scene.state, refusal, {});
  const Json& conditions = plan.status->status["conditions"];
  EXPECT_EQ(condition(conditions, plan::kAccepted), "False InvalidSpec: spec.x: Invalid value");
  EXPECT_EQ(condition(conditions, kJobsStarted), "True JobsStarted: all jobs are created");
  EXPECT_THAT(describe(plan.events), ElementsAre("Warning InvalidJobSetSpec: spec.x: Invalid value"));
  world.set("/status", plan.status->status);
  EXPECT_TRUE(render_refusal(Scene(world).state, refusal, {}).empty());
}

TEST(RefusedStatus, AddsAllConditions) {
  const Scene scene(a_jobset("train").job("workers").world());
  const Json conditions = render_refusal(scene.state, {"InvalidSpec", "x"}, {}).status->status["conditions"];
  EXPECT_EQ(condition(conditions, kJobsStarted), "False NotAccepted: the spec is refused");
  EXPECT_EQ(condition(conditions, kServiceReady), "False NotAccepted: the spec is refused");
}

}  // namespace
}  // namespace tpuslice::jobset
