#include "controllers/jobset/finish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

World ended(const JobSetBuilder& jobset, std::string_view how, Duration when = 0s) {
  JobSetBuilder whole = jobset;
  World world = whole.job("workers", 2).everywhere(succeeded);
  world.set("/status/conditions",
            Json::array({{{"type", how}, {"status", "True"}, {"lastTransitionTime", format_rfc3339(after(when))}}}));
  return world;
}

TEST(Complete, SaysSoAsUpstream) {
  Scene scene(a_jobset("train").job("workers").everywhere(succeeded));
  complete(scene.changes);
  EXPECT_EQ(condition(scene.changes.status.conditions, kCompleted),
            "True AllJobsCompleted: jobset completed successfully");
  EXPECT_EQ(scene.changes.status.terminal_state, "Completed");
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Normal AllJobsCompleted: jobset completed successfully"));
  EXPECT_EQ(condition(scene.changes.status.conditions, kRestarting), "");
}

TEST(Complete, EndsARestart) {
  World world = a_jobset("train").job("workers").everywhere(succeeded);
  world.set("/status/conditions", Json::array({{{"type", "RestartingJobSet"}, {"status", "True"}}}));
  Scene scene(world);
  complete(scene.changes);
  EXPECT_EQ(condition(scene.changes.status.conditions, kRestarting),
            "False JobSetCompleted: jobset completed successfully");
}

TEST(CleanUp, DeletesJobsThatAreStillActive) {
  World world = ended(a_jobset("train"), kFailed);
  world.job("train-workers-1", ready);
  Scene scene(world);
  clean_up(scene.children, {}, scene.changes);
  EXPECT_THAT(told(scene.changes.deletes), ElementsAre("delete train-workers-1 Foreground"));
  EXPECT_THAT(scene.changes.reasons, ElementsAre("deleting 1 job (train-workers-1): the JobSet has ended"));
}

TEST(CleanUp, KeepsAJobSetWithoutTimeToLive) {
  World world = ended(a_jobset("train"), kCompleted);
  world.now() = after(24h * 365);
  Scene scene(world);
  clean_up(scene.children, {}, scene.changes);
  EXPECT_THAT(scene.changes.deletes, IsEmpty());
  EXPECT_EQ(scene.changes.requeue_after, std::nullopt);
}

class TimesToLive : public testing::TestWithParam<std::string_view> {};

TEST_P(TimesToLive, CountFromTheEndOfTheJobSet) {
  World world = ended(a_jobset("train").set("/spec/ttlSecondsAfterFinished", 100), GetParam(), 10s);
  world.now() = after(70s);
  Scene early(world);
  clean_up(early.children, {}, early.changes);
  EXPECT_THAT(early.changes.deletes, IsEmpty());
  EXPECT_EQ(early.changes.requeue_after, 40s);

  world.now() = after(110s);
  Scene due(world);
  clean_up(due.children, {}, due.changes);
  ASSERT_THAT(told(due.changes.deletes), ElementsAre("delete train Foreground"));
  EXPECT_EQ(due.changes.deletes[0].type, kJobSets);
  EXPECT_EQ(due.changes.deletes[0].preconditions.uid, "uid-of-train");
  EXPECT_EQ(due.changes.requeue_after, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Both, TimesToLive, testing::Values(kCompleted, kFailed),
                         [](const auto& test) { return std::string(test.param); });

TEST(CleanUp, OfATimeToLiveOfZeroIsAtOnce) {
  Scene scene(ended(a_jobset("train").set("/spec/ttlSecondsAfterFinished", 0), kCompleted));
  clean_up(scene.children, {}, scene.changes);
  EXPECT_THAT(told(scene.changes.deletes), ElementsAre("delete train Foreground"));
}

TEST(CleanUp, DoesNotGuessWhenAJobSetEnded) {
  World world = ended(a_jobset("train").set("/spec/ttlSecondsAfterFinished", 0), kCompleted);
  world.set("/status/conditions/0/lastTransitionTime", "yesterday");
  Scene scene(world);
  clean_up(scene.children, {}, scene.changes);
  EXPECT_THAT(scene.changes.deletes, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::jobset
