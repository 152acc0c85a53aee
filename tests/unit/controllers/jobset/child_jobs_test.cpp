#include "controllers/jobset/child_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

World four_jobs() { return a_jobset("train").job("workers", 4).everywhere(active); }

JobPtr first_job(const World& world) { return world.observed().jobs.front(); }

TEST(ClassifyJobs, ByConditions) {
  World world = four_jobs();
  world.job("train-workers-1", succeeded).job("train-workers-2", failed("BackoffLimitExceeded"));
  world.job("train-workers-3", suspended);
  const Scene scene(world);
  EXPECT_THAT(names_of(scene.state.children.active), ElementsAre("train-workers-0", "train-workers-3"));
  EXPECT_THAT(names_of(scene.state.children.succeeded), ElementsAre("train-workers-1"));
  EXPECT_THAT(names_of(scene.state.children.failed), ElementsAre("train-workers-2"));
  EXPECT_THAT(scene.state.children.previous, IsEmpty());
  EXPECT_THAT(scene.state.children.names,
              UnorderedElementsAre("train-workers-0", "train-workers-1", "train-workers-2", "train-workers-3"));
}

TEST(ClassifyJobs, OfAPreviousAttemptWhateverTheirState) {
  World world = four_jobs();
  world.set("/status/restarts", 2);
  world.job("train-workers-0", of_attempt(1)).job("train-workers-0", failed("x"));
  world.job("train-workers-1", of_attempt(0)).job("train-workers-1", succeeded);
  world.job("train-workers-2", of_attempt(2));
  world.job("train-workers-3", of_attempt(3));
  const Scene scene(world);
  EXPECT_THAT(names_of(scene.state.children.previous), ElementsAre("train-workers-0", "train-workers-1"));
  EXPECT_THAT(names_of(scene.state.children.active), ElementsAre("train-workers-2", "train-workers-3"));
  EXPECT_THAT(scene.state.children.failed, IsEmpty());
  EXPECT_THAT(scene.state.children.succeeded, IsEmpty());
}

TEST(ClassifyJobs, OfAPreviousAttemptOfASingleJob) {
  World world = a_jobset("train").job("workers", 3).rule({{"action", "RestartJob"}}).everywhere(active);
  world.set("/status/replicatedJobsStatus", Json::array({{{"name", "workers"}, {"jobRestarts", {0, 1, 1}}}}));
  world.job("train-workers-2", of_job_attempt(1));
  const Scene scene(world);
  EXPECT_THAT(names_of(scene.state.children.previous), ElementsAre("train-workers-1"));
  EXPECT_THAT(names_of(scene.state.children.active), ElementsAre("train-workers-0", "train-workers-2"));
}

struct BrokenLabel {
  const char* name;
  std::string_view key;
  const char* value;
};

class BrokenLabels : public testing::TestWithParam<BrokenLabel> {};

TEST_P(BrokenLabels, AreIgnored) {
  World world = four_jobs();
  world.set("/status/restarts", 1);
  world.every_job(of_attempt(1));
  const BrokenLabel& broken = GetParam();
  world.job("train-workers-1", with_label(broken.key, broken.value));
  world.job("train-workers-1", [&](Json& job) { job["metadata"]["annotations"].erase(std::string(broken.key)); });
  const Scene scene(world);
  EXPECT_THAT(scene.state.children.previous, IsEmpty());
  EXPECT_EQ(scene.state.children.active.size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(All, BrokenLabels,
                         testing::Values(BrokenLabel{"NoNumber", kRestartAttempt, "one"},
                                         BrokenLabel{"Empty", kRestartAttempt, ""},
                                         BrokenLabel{"Negative", kRestartAttempt, "-1"},
                                         BrokenLabel{"TooLarge", kRestartAttempt, "99999999999"},
                                         BrokenLabel{"HalfANumber", kRestartAttempt, "0x"},
                                         BrokenLabel{"NoIndex", kJobIndex, "first"},
                                         BrokenLabel{"NoJobAttempt", kJobRestartAttempt, "?"}),
                         [](const auto& test) { return test.param.name; });

TEST(ClassifyJobs, ByAnnotationsIfLabelsAreMissing) {
  World world = four_jobs();
  world.set("/status/restarts", 1);
  world.every_job(of_attempt(1));
  world.job("train-workers-1", of_attempt(0)).job("train-workers-1", [](Json& job) {
    job["metadata"]["labels"].erase(std::string(kRestartAttempt));
    job["metadata"]["labels"].erase(std::string(kReplicatedJobName));
    job["metadata"]["labels"].erase(std::string(kJobIndex));
  });
  const Scene scene(world);
  EXPECT_THAT(names_of(scene.state.children.previous), ElementsAre("train-workers-1"));
  EXPECT_EQ(replicated_job_of(*scene.state.children.previous[0]), "workers");
  EXPECT_EQ(index_of(*scene.state.children.previous[0]), 1);
}

TEST(ClassifyJobs, WithoutLabelsHaveNoIndex) {
  World world = a_jobset("train").job("workers").everywhere(active);
  world.job("train-workers-0", without_label(kJobIndex)).job("train-workers-0", without_label(kReplicatedJobName));
  EXPECT_EQ(index_of(*first_job(world)), std::nullopt);
  EXPECT_EQ(replicated_job_of(*first_job(world)), "");
}

TEST(FailureOf, IncludesFailureTargetOnlyIfTheJobSetRequestsIt) {
  World world = a_jobset("train").job("workers").everywhere(active);
  world.job("train-workers-0", with_condition("FailureTarget", "PodFailurePolicy", 5s));
  EXPECT_THAT(names_of(Scene(world).state.children.active), ElementsAre("train-workers-0"));
  world.set("/metadata/annotations/tpuslice.dev~1restart-at", "FailureTarget");
  const Scene scene(world);
  ASSERT_THAT(names_of(scene.state.children.failed), ElementsAre("train-workers-0"));
  const JobCondition* failure = failure_condition(scene.state.spec, *scene.state.children.failed[0]);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->reason, "PodFailurePolicy");
  EXPECT_EQ(failure->since, after(5s));
}

struct Readiness {
  const char* name;
  int parallelism;
  Json completions;
  int ready;
  int succeeded;
  bool is_ready;
};

class ReadinessOfJobs : public testing::TestWithParam<Readiness> {};

TEST_P(ReadinessOfJobs, CountsReadyAndSucceededPods) {
  const Readiness& when = GetParam();
  World world = a_jobset("train").job("workers").everywhere(active);
  world.job("train-workers-0", [&](Json& job) {
    job["spec"]["parallelism"] = when.parallelism;
    job["spec"]["completions"] = when.completions;
    job["status"] = {{"ready", when.ready}, {"succeeded", when.succeeded}};
  });
  EXPECT_EQ(is_ready(*first_job(world)), when.is_ready);
}

INSTANTIATE_TEST_SUITE_P(All, ReadinessOfJobs,
                         testing::Values(Readiness{"AllReady", 4, 4, 4, 0, true},
                                         Readiness{"OneNotReady", 4, 4, 3, 0, false},
                                         Readiness{"OneSucceeded", 4, 4, 3, 1, true},
                                         Readiness{"FewerCompletionsThanPods", 4, 2, 2, 0, true},
                                         Readiness{"MoreCompletionsThanPods", 2, 8, 2, 0, true},
                                         Readiness{"WithoutCompletions", 2, nullptr, 1, 0, false},
                                         Readiness{"NoPods", 0, nullptr, 0, 0, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::jobset
