#include "controllers/jobset/cleanup.h"

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

World finished(const JobSetBuilder& jobset, std::string_view type, Duration when = 0s) {
  JobSetBuilder whole = jobset;
  World world = whole.job("workers", 2).everywhere(succeeded);
  world.set("/status/conditions",
            Json::array({{{"type", type}, {"status", "True"}, {"lastTransitionTime", format_rfc3339(after(when))}}}));
  return world;
}

plan::Plan cleaned_up(const World& world) {
  const Scene scene(world);
  Decisions decisions;
  decisions.cleanup = clean_up_finished(scene.state, {});
  return scene.render(decisions).plan;
}

TEST(CleanUp, DeletesActiveJobs) {
  World world = finished(a_jobset("train"), kFailed);
  world.job("train-workers-1", ready);
  const plan::Plan plan = cleaned_up(world);
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Job train-workers-1 Foreground")));
  EXPECT_EQ(plan.reason, "deleting 1 job (train-workers-1): the JobSet is finished");
}

TEST(CleanUp, KeepsAJobSetWithoutTtl) {
  World world = finished(a_jobset("train"), kCompleted);
  world.now() = after(24h * 365);
  const plan::Plan plan = cleaned_up(world);
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

class TimesToLive : public testing::TestWithParam<std::string_view> {};

TEST_P(TimesToLive, StartWhenTheJobSetFinishes) {
  World world = finished(a_jobset("train").set("/spec/ttlSecondsAfterFinished", 100), GetParam(), 10s);
  world.now() = after(70s);
  const plan::Plan early = cleaned_up(world);
  EXPECT_THAT(early.stages, IsEmpty());
  EXPECT_EQ(early.requeue_after, 40s);

  world.now() = after(110s);
  const plan::Plan due = cleaned_up(world);
  ASSERT_THAT(stages_of(due), ElementsAre(ElementsAre("delete JobSet train Foreground")));
  EXPECT_EQ(action_of(due, "delete JobSet train Foreground").preconditions.uid, "uid-of-train");
  EXPECT_EQ(due.requeue_after, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Both, TimesToLive, testing::Values(kCompleted, kFailed),
                         [](const auto& test) { return std::string(test.param); });

TEST(CleanUp, DeletesTheJobSetAtOnceIfTheTtlIsZero) {
  const World world = finished(a_jobset("train").set("/spec/ttlSecondsAfterFinished", 0), kCompleted);
  EXPECT_THAT(stages_of(cleaned_up(world)), ElementsAre(ElementsAre("delete JobSet train Foreground")));
}

class InvalidFinishTimes : public testing::TestWithParam<const char*> {};

TEST_P(InvalidFinishTimes, CountFromNow) {
  World world = finished(a_jobset("train").set("/spec/ttlSecondsAfterFinished", 60), kCompleted);
  world.set("/status/conditions/0/lastTransitionTime", Json::parse(GetParam()));
  world.now() = after(10s);
  const plan::Plan plan = cleaned_up(world);
  EXPECT_THAT(plan.stages, IsEmpty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->status["conditions"][0]["lastTransitionTime"], format_rfc3339(after(10s)));

  world.set("/status", plan.status->status);
  world.now() = after(69s);
  EXPECT_EQ(cleaned_up(world).requeue_after, 1s);
  world.now() = after(70s);
  EXPECT_THAT(stages_of(cleaned_up(world)), ElementsAre(ElementsAre("delete JobSet train Foreground")));
}

INSTANTIATE_TEST_SUITE_P(Malformed, InvalidFinishTimes, testing::Values("\"yesterday\"", "null", "7"));

/// As upstream: MultiKueue's JobSets are deleted, but neither their Jobs nor their status are touched.
TEST(CleanUp, DeletesAJobSetOfAnotherControllerWhenItIsDue) {
  JobSetBuilder jobset = a_jobset("train").set("/spec/managedBy", "kueue.x-k8s.io/multikueue");
  World kept = finished(jobset, kCompleted);
  kept.now() = after(24h);
  EXPECT_TRUE(kept.plan().empty());

  World world = finished(jobset.set("/spec/ttlSecondsAfterFinished", 100), kFailed, 10s);
  world.job("train-workers-1", ready).now() = after(70s);
  EXPECT_TRUE(world.plan().empty());
  EXPECT_EQ(world.plan().requeue_after, 40s);
  world.now() = after(110s);
  const plan::Plan due = world.plan();
  ASSERT_THAT(stages_of(due), ElementsAre(ElementsAre("delete JobSet train Foreground")));
  EXPECT_EQ(action_of(due, "delete JobSet train Foreground").preconditions.uid, "uid-of-train");
  EXPECT_FALSE(due.status);
}

TEST(CleanUp, DoesNotDeleteAJobSetOfAnotherControllerThatHasNotFinished) {
  JobSetBuilder jobset = a_jobset("train").set("/spec/managedBy", "kueue.x-k8s.io/multikueue");
  World world = jobset.set("/spec/ttlSecondsAfterFinished", 0).job("workers").everywhere(succeeded);
  EXPECT_TRUE(world.plan().empty());
  world.set("/status/conditions", Json::array({{{"type", "Completed"}, {"status", "True"}}}));
  EXPECT_TRUE(world.plan().empty()) << "its controller has not said when it finished";
}

}  // namespace
}  // namespace tpuslice::jobset
