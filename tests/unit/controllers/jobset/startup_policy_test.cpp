#include "controllers/jobset/startup_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Order = StartupDecision::Order;

// The names of the replicated jobs that may start, the waits, and the rendered conditions.
struct Startup {
  explicit Startup(const World& world) {
    const Scene scene(world);
    Decisions decisions;
    const StartupDecision startup = decide_startup(scene.state.spec, scene.state.counts);
    for (const ReplicatedJob* job : startup.may_start) may_start.push_back(job->name);
    for (const Problem& wait : startup.waits) waits.push_back(wait.reason + ": " + wait.message);
    order = startup.order;
    decisions.running.emplace().startup = startup;
    outcome = scene.render(decisions);
  }

  [[nodiscard]] std::string in_progress() const { return condition(outcome.status.conditions, kStartupInProgress); }
  [[nodiscard]] std::string completed() const { return condition(outcome.status.conditions, kStartupCompleted); }

  std::vector<std::string> may_start;
  std::vector<std::string> waits;
  Order order = Order::kAny;
  Outcome outcome;
};

JobSetBuilder three_in_order() { return a_jobset("train").job("a").job("b", 2).job("c").in_order(); }

TEST(StartupPolicy, StartsAllReplicatedJobsAtOnceByDefault) {
  const Startup result(a_jobset("train").job("a").job("b", 2).world());
  EXPECT_THAT(result.may_start, ElementsAre("a", "b"));
  EXPECT_EQ(result.order, Order::kAny);
  EXPECT_THAT(result.waits, IsEmpty());
  EXPECT_EQ(result.in_progress(), "");
  EXPECT_EQ(result.completed(), "");
}

TEST(StartupPolicy, TreatsAnyOrderAsTheDefault) {
  const Startup result(
      a_jobset("train").job("a").job("b").set("/spec/startupPolicy/startupPolicyOrder", "AnyOrder").world());
  EXPECT_THAT(result.may_start, ElementsAre("a", "b"));
  EXPECT_EQ(result.in_progress(), "");
}

TEST(StartupPolicy, InOrderStartsTheFirstReplicatedJob) {
  const Startup result(three_in_order().world());
  EXPECT_THAT(result.may_start, ElementsAre("a"));
  EXPECT_EQ(result.order, Order::kInProgress);
  const std::string expected = "InOrderStartupPolicyInProgress: in order startup policy is in progress";
  EXPECT_EQ(result.in_progress(), "True " + expected);
  EXPECT_EQ(result.completed(), "");
  EXPECT_THAT(describe(result.outcome.plan.events), ElementsAre("Normal " + expected));
  EXPECT_THAT(result.waits,
              ElementsAre("StartupPolicy: replicated jobs after a wait for it to be ready: 0 of 1 jobs are"));
}

TEST(StartupPolicy, InOrderStartsTheNextWhenAllReplicasAreReadyOrFinished) {
  World world = three_in_order().world();
  world.job("train-a-0", succeeded).job("train-b-0", ready).job("train-b-1", active);
  const Startup half(world);
  EXPECT_THAT(half.may_start, ElementsAre("b"));
  EXPECT_THAT(half.waits,
              ElementsAre("StartupPolicy: replicated jobs after b wait for it to be ready: 1 of 2 jobs are"));
  world.job("train-b-1", failed("x"));
  const Startup whole(world);
  EXPECT_THAT(whole.may_start, ElementsAre("c"));
  EXPECT_THAT(whole.waits, IsEmpty()) << "no job waits for the last one";
}

TEST(StartupPolicy, InOrderIsCompleteWhenTheLastReplicatedJobIsReady) {
  World world = three_in_order().everywhere(ready);
  world.set("/status/conditions", Startup(three_in_order().world()).outcome.status.conditions);
  const Startup result(world);
  EXPECT_THAT(result.may_start, IsEmpty());
  EXPECT_EQ(result.order, Order::kComplete);
  EXPECT_EQ(result.in_progress(), "False InOrderStartupPolicyInProgress: in order startup policy is in progress");
  EXPECT_EQ(result.completed(), "True InOrderStartupPolicyCompleted: in order startup policy has completed");
  EXPECT_THAT(describe(result.outcome.plan.events),
              ElementsAre("Normal InOrderStartupPolicyCompleted: in order startup policy has completed"));
}

// Regression: it kept the generation at which it had become False, so kubectl wait --for=condition=...=false hung.
TEST(StartupPolicy, AFalseConditionFollowsTheGeneration) {
  World world = three_in_order().everywhere(ready);
  world.set("/status/conditions", Startup(three_in_order().world()).outcome.status.conditions);
  world.set("/status/conditions", Startup(world).outcome.status.conditions).set("/metadata/generation", 7);
  const Startup result(world);
  for (const auto type : {kStartupInProgress, kStartupCompleted}) {
    EXPECT_EQ(int_at(*find_condition(result.outcome.status.conditions, type), {"observedGeneration"}), 7) << type;
  }
  EXPECT_THAT(result.outcome.plan.events, IsEmpty());
}

TEST(StartupPolicy, InOrderStartsAgainWhenAJobIsMissing) {
  World world = three_in_order().everywhere(ready);
  world.set("/status/conditions", Startup(world).outcome.status.conditions).without_job("train-b-1");
  const Startup result(world);
  EXPECT_THAT(result.may_start, ElementsAre("b"));
  EXPECT_THAT(result.in_progress(), testing::StartsWith("True "));
  EXPECT_THAT(result.completed(), testing::StartsWith("False "));
}

TEST(StartupPolicy, IgnoresTheOrderOfASuspendedJobSet) {
  const Startup result(three_in_order().suspend().world());
  EXPECT_THAT(result.may_start, ElementsAre("a", "b", "c"));
  EXPECT_EQ(result.in_progress(), "");
  EXPECT_THAT(result.waits, IsEmpty());
}

JobSetBuilder a_chain() {
  return a_jobset("train")
      .job("data")
      .job("driver", 2)
      .depends_on("data", "Complete")
      .job("workers")
      .depends_on("driver", "Ready");
}

TEST(DependsOn, ReportsEachUnmetDependency) {
  const Startup result(a_chain().world());
  EXPECT_THAT(result.may_start, ElementsAre("data"));
  EXPECT_THAT(result.waits,
              ElementsAre("DependsOn: replicated job driver waits for data to be Complete: 0 of 1 jobs are",
                          "DependsOn: replicated job workers waits for driver to be Ready: 0 of 2 jobs are"));
}

TEST(DependsOn, WaitsForSuccessIfTheStatusIsComplete) {
  World world = a_chain().world();
  world.job("train-data-0", ready);
  EXPECT_THAT(Startup(world).may_start, ElementsAre("data"));
  world.job("train-data-0", failed("x"));
  EXPECT_THAT(Startup(world).may_start, ElementsAre("data"));
  world.job("train-data-0", succeeded);
  EXPECT_THAT(Startup(world).may_start, ElementsAre("data", "driver"));
}

TEST(DependsOn, CountsFinishedJobsAsReady) {
  World world = a_chain().world();
  world.job("train-data-0", succeeded).job("train-driver-0", succeeded);
  const Startup one(world);
  EXPECT_THAT(one.may_start, ElementsAre("data", "driver"));
  EXPECT_THAT(one.waits,
              ElementsAre("DependsOn: replicated job workers waits for driver to be Ready: 1 of 2 jobs are"));
  world.job("train-driver-1", failed("x"));
  const Startup both(world);
  EXPECT_THAT(both.may_start, ElementsAre("data", "driver", "workers"));
  EXPECT_THAT(both.waits, IsEmpty());
}

TEST(DependsOn, WaitsForAllDependencies) {
  World world = a_jobset("train").job("a").job("b").job("c").depends_on("a", "Ready").depends_on("b", "Ready").world();
  world.job("train-a-0", ready);
  EXPECT_THAT(Startup(world).may_start, ElementsAre("a", "b"));
  world.job("train-b-0", ready);
  EXPECT_THAT(Startup(world).may_start, ElementsAre("a", "b", "c"));
}

TEST(DependsOn, AppliesToASuspendedJobSet) {
  EXPECT_THAT(Startup(a_chain().suspend().world()).may_start, ElementsAre("data"));
}

}  // namespace
}  // namespace tpuslice::jobset
