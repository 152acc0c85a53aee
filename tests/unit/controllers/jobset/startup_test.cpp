#include "controllers/jobset/startup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> starters(const Startup& startup) {
  std::vector<std::string> out;
  for (const ReplicatedJob* job : startup.may_start) out.push_back(job->name);
  return out;
}

std::vector<std::string> waits(const Changes& changes) {
  std::vector<std::string> out;
  for (const Wait& wait : changes.waits) out.push_back(wait.reason + ": " + wait.message);
  return out;
}

std::string in_progress(const Changes& changes) { return condition(changes.status.conditions, kStartupInProgress); }
std::string completed(const Changes& changes) { return condition(changes.status.conditions, kStartupCompleted); }

JobSetBuilder three_in_order() { return a_jobset("train").job("a").job("b", 2).job("c").in_order(); }

TEST(Startup, OfAJobSetWithoutOrderIsAllAtOnce) {
  Scene scene(a_jobset("train").job("a").job("b", 2).world());
  const Startup startup = plan_startup(scene.changes);
  EXPECT_THAT(starters(startup), ElementsAre("a", "b"));
  EXPECT_FALSE(startup.in_progress);
  EXPECT_THAT(scene.changes.waits, IsEmpty());
  EXPECT_EQ(scene.changes.status.conditions, Json::array());
}

TEST(Startup, SaysAnyOrderAsIfItSaidNothing) {
  Scene scene(a_jobset("train").job("a").job("b").set("/spec/startupPolicy/startupPolicyOrder", "AnyOrder").world());
  EXPECT_THAT(starters(plan_startup(scene.changes)), ElementsAre("a", "b"));
  EXPECT_EQ(in_progress(scene.changes), "");
}

TEST(Startup, InOrderBeginsWithTheFirst) {
  Scene scene(three_in_order().world());
  const Startup startup = plan_startup(scene.changes);
  EXPECT_THAT(starters(startup), ElementsAre("a"));
  EXPECT_TRUE(startup.in_progress);
  const std::string expected = "InOrderStartupPolicyInProgress: in order startup policy is in progress";
  EXPECT_EQ(in_progress(scene.changes), "True " + expected);
  EXPECT_EQ(completed(scene.changes), "");
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Normal " + expected));
  EXPECT_THAT(waits(scene.changes),
              ElementsAre("StartupPolicy: replicated jobs after a wait for it to be ready: 0 of 1 are"));
}

TEST(Startup, InOrderGoesOnWhenAllReplicasAreReadyOrHaveEnded) {
  World world = three_in_order().world();
  world.job("train-a-0", succeeded).job("train-b-0", ready).job("train-b-1", active);
  Scene half(world);
  EXPECT_THAT(starters(plan_startup(half.changes)), ElementsAre("b"));
  EXPECT_THAT(waits(half.changes),
              ElementsAre("StartupPolicy: replicated jobs after b wait for it to be ready: 1 of 2 are"));
  world.job("train-b-1", failed("x"));
  Scene whole(world);
  EXPECT_THAT(starters(plan_startup(whole.changes)), ElementsAre("c"));
  EXPECT_THAT(whole.changes.waits, IsEmpty()) << "nobody waits for the last";
}

TEST(Startup, InOrderIsCompleteWhenTheLastIsReady) {
  World world = three_in_order().everywhere(ready);
  Scene before(three_in_order().world());
  (void)plan_startup(before.changes);
  world.set("/status/conditions", before.changes.status.conditions);
  Scene scene(world);
  const Startup startup = plan_startup(scene.changes);
  EXPECT_THAT(startup.may_start, IsEmpty());
  EXPECT_FALSE(startup.in_progress);
  EXPECT_EQ(in_progress(scene.changes), "False InOrderStartupPolicyInProgress: in order startup policy is in progress");
  EXPECT_EQ(completed(scene.changes), "True InOrderStartupPolicyCompleted: in order startup policy has completed");
  EXPECT_THAT(told(scene.changes.events),
              ElementsAre("Normal InOrderStartupPolicyCompleted: in order startup policy has completed"));
}

TEST(Startup, InOrderBeginsAnewWhenJobsAreMadeAnew) {
  World world = three_in_order().everywhere(ready);
  Scene done(world);
  (void)plan_startup(done.changes);
  world.set("/status/conditions", done.changes.status.conditions).without_job("train-b-1");
  Scene scene(world);
  EXPECT_THAT(starters(plan_startup(scene.changes)), ElementsAre("b"));
  EXPECT_THAT(in_progress(scene.changes), testing::StartsWith("True "));
  EXPECT_THAT(completed(scene.changes), testing::StartsWith("False "));
}

TEST(Startup, OfASuspendedJobSetIsInAnyOrderAndSaysNothing) {
  Scene scene(three_in_order().suspend().world());
  EXPECT_THAT(starters(plan_startup(scene.changes)), ElementsAre("a", "b", "c"));
  EXPECT_EQ(scene.changes.status.conditions, Json::array());
  EXPECT_THAT(scene.changes.waits, IsEmpty());
}

JobSetBuilder a_chain() {
  return a_jobset("train")
      .job("data")
      .job("driver", 2)
      .depends_on("data", "Complete")
      .job("workers")
      .depends_on("driver", "Ready");
}

TEST(DependsOn, HoldsBackWhatWaitsAndSaysForWhom) {
  Scene scene(a_chain().world());
  EXPECT_THAT(starters(plan_startup(scene.changes)), ElementsAre("data"));
  EXPECT_THAT(waits(scene.changes),
              ElementsAre("DependsOn: replicated job driver waits for data to be Complete: 0 of 1 are",
                          "DependsOn: replicated job workers waits for driver to be Ready: 0 of 2 are"));
}

TEST(DependsOn, WaitsForSuccessWhereItSaysComplete) {
  World world = a_chain().world();
  world.job("train-data-0", ready);
  Scene running(world);
  EXPECT_THAT(starters(plan_startup(running.changes)), ElementsAre("data"));
  world.job("train-data-0", failed("x"));
  Scene broken(world);
  EXPECT_THAT(starters(plan_startup(broken.changes)), ElementsAre("data"));
  world.job("train-data-0", succeeded);
  Scene done(world);
  EXPECT_THAT(starters(plan_startup(done.changes)), ElementsAre("data", "driver"));
}

TEST(DependsOn, TakesWhatHasEndedForReady) {
  World world = a_chain().world();
  world.job("train-data-0", succeeded).job("train-driver-0", succeeded);
  Scene one(world);
  EXPECT_THAT(starters(plan_startup(one.changes)), ElementsAre("data", "driver"));
  EXPECT_THAT(waits(one.changes),
              ElementsAre("DependsOn: replicated job workers waits for driver to be Ready: 1 of 2 are"));
  world.job("train-driver-1", failed("x"));
  Scene both(world);
  EXPECT_THAT(starters(plan_startup(both.changes)), ElementsAre("data", "driver", "workers"));
  EXPECT_THAT(both.changes.waits, IsEmpty());
}

TEST(DependsOn, NeedsAllThatItNames) {
  World world = a_jobset("train").job("a").job("b").job("c").depends_on("a", "Ready").depends_on("b", "Ready").world();
  world.job("train-a-0", ready);
  Scene one(world);
  EXPECT_THAT(starters(plan_startup(one.changes)), ElementsAre("a", "b"));
  world.job("train-b-0", ready);
  Scene both(world);
  EXPECT_THAT(starters(plan_startup(both.changes)), ElementsAre("a", "b", "c"));
}

TEST(DependsOn, HoldsBackJobsOfASuspendedJobSetToo) {
  Scene scene(a_chain().suspend().world());
  EXPECT_THAT(starters(plan_startup(scene.changes)), ElementsAre("data"));
}

}  // namespace
}  // namespace tpuslice::jobset
