#include "controllers/jobset/jobset_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json written(const Scene& scene) {
  JobSetStatus status = scene.state.status;
  status.jobs = scene.state.counts;
  return status.to_json(plan::status_of(scene.seen.jobset), scene.state.spec);
}

TEST(JobSetStatus, CountsJobsInDescendingOrderOfNames) {
  World world = a_jobset("train").job("alpha", 3).hosts(2).job("omega", 4).hosts(2).everywhere(ready);
  world.job("train-alpha-0", succeeded).job("train-alpha-1", failed("x"));
  world.job("train-omega-0", active).job("train-omega-1", suspended).job("train-omega-2", fresh);
  EXPECT_EQ(written(Scene(world)), Json::parse(R"({"restarts": 0, "replicatedJobsStatus": [
    {"name": "omega", "ready": 1, "succeeded": 0, "failed": 0, "active": 2, "suspended": 1},
    {"name": "alpha", "ready": 1, "succeeded": 1, "failed": 1, "active": 1, "suspended": 0}]})"));
}

TEST(JobSetStatus, DoesNotCountJobsOfPreviousAttempts) {
  World world = a_jobset("train").job("workers", 2).everywhere(ready);
  world.set("/status/restarts", 1).job("train-workers-1", of_attempt(1));
  EXPECT_EQ(
      written(Scene(world))["replicatedJobsStatus"][0],
      Json::parse(R"({"name": "workers", "ready": 1, "succeeded": 0, "failed": 0, "active": 1, "suspended": 0})"));
}

TEST(JobSetStatus, DoesNotCountJobsOfUnknownReplicatedJobs) {
  World world = a_jobset("train").job("workers", 3).everywhere(ready);
  world.job("train-workers-0", with_label(kReplicatedJobName, "other"));
  world.job("train-workers-1", without_label(kReplicatedJobName));
  EXPECT_EQ(written(Scene(world))["replicatedJobsStatus"][0]["ready"], 1);
}

TEST(JobSetStatus, KeepsUnknownFields) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  const Json before = Json::parse(R"({"restarts": 3, "restartsCountTowardsMax": 2, "terminalState": "Failed",
    "currentInPlaceRestartAttempt": 5, "theirs": {"a": 1},
    "conditions": [{"type": "Theirs", "status": "True", "reason": "x", "message": "y"}],
    "replicatedJobsStatus": [{"name": "workers", "ready": 1, "succeeded": 0, "failed": 0, "active": 1, "suspended": 0,
                              "jobRestarts": [4], "jobRestartsCountTowardsMax": [3]}]})");
  world.set("/status", before).every_job(of_attempt(3));
  EXPECT_EQ(written(Scene(world)), before);
}

TEST(JobSetStatus, DropsReplicatedJobsThatTheSpecDoesNotHave) {
  World world = a_jobset("train").job("workers").everywhere(ready);
  world.set("/status/replicatedJobsStatus",
            Json::parse(R"([{"name": "unknown", "ready": 1, "jobRestartsCountTowardsMax": [5]}])"));
  const Scene scene(world);
  EXPECT_EQ(written(scene)["replicatedJobsStatus"].size(), 1U);
  EXPECT_TRUE(all_ready(scene.state.spec, scene.state.counts));
}

TEST(JobSetStatus, ListsAllReplicatedJobsOfANewJobSet) {
  EXPECT_EQ(written(Scene(a_jobset("train").job("workers", 2).world())), Json::parse(R"({"restarts": 0,
    "replicatedJobsStatus": [{"name": "workers", "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}]})"));
}

TEST(JobSetStatus, CountsRestartsOfSingleJobs) {
  JobSetStatus status;
  status.counted_restarts = 2;
  status.count_restart("workers", 1, 3, false);
  EXPECT_THAT(status.jobs["workers"].counted_restarts, IsEmpty());
  status.count_restart("workers", 1, 3, true);
  EXPECT_THAT(status.jobs["workers"].restarts, ElementsAre(0, 2, 0));
  EXPECT_THAT(status.jobs["workers"].counted_restarts, ElementsAre(0, 1, 0));
  EXPECT_EQ(status.restarts_of("workers", 1), 2);
  EXPECT_EQ(status.restarts_of("workers", 7), 0);
  EXPECT_EQ(status.restarts_of("workers", -1), 0);
  EXPECT_EQ(status.restarts_of("driver", 0), 0);
  EXPECT_EQ(status.all_counted_restarts(), 3);
}

TEST(JobSetStatus, ReadsCountsAsInt32) {
  const Json stored = Json::parse(R"({"restarts": 4294967297, "restartsCountTowardsMax": -3,
    "replicatedJobsStatus": [{"name": "workers", "ready": 18446744073709551615, "succeeded": -1,
                              "jobRestarts": [9223372036854775807, -1, "x"],
                              "jobRestartsCountTowardsMax": [2147483647, 2147483647]}]})");
  JobSetStatus status = JobSetStatus::read(a_jobset("train").job("workers", 2).set("/status", stored).object());
  EXPECT_EQ(status.restarts, 2147483647);
  EXPECT_EQ(status.counted_restarts, 0);
  EXPECT_EQ(status.jobs["workers"].ready, 2147483647);
  EXPECT_EQ(status.jobs["workers"].succeeded, 0);
  EXPECT_THAT(status.jobs["workers"].restarts, ElementsAre(2147483647, 0, 0));
  EXPECT_EQ(status.all_counted_restarts(), 4294967294);
  status.count_restart("workers", 0, 2, true);
  EXPECT_EQ(status.restarts_of("workers", 0), 2147483647);
}

TEST(JobSetStatus, IsFinishedOnceItIsCompletedOrFailed) {
  const auto with = [](const char* type, const char* value) {
    const Json conditions = Json::array({{{"type", type}, {"status", value}}});
    return JobSetStatus::read(a_jobset("train").set("/status/conditions", conditions).object()).finished();
  };
  EXPECT_TRUE(with("Completed", "True"));
  EXPECT_TRUE(with("Failed", "True"));
  EXPECT_FALSE(with("Failed", "False"));
  EXPECT_FALSE(with("Suspended", "True"));
}

struct AllReadyCase {
  const char* name;
  JobChange driver;
  JobChange worker;
  bool all_ready;
};

class AllReady : public testing::TestWithParam<AllReadyCase> {};

TEST_P(AllReady, CountsReadyAndSucceededJobs) {
  World world = a_jobset("train").job("driver").job("workers").everywhere(ready);
  world.job("train-driver-0", GetParam().driver).job("train-workers-0", GetParam().worker);
  const Scene scene(world);
  EXPECT_EQ(all_ready(scene.state.spec, scene.state.counts), GetParam().all_ready);
}

INSTANTIATE_TEST_SUITE_P(All, AllReady,
                         testing::Values(AllReadyCase{"Ready", ready, ready, true},
                                         AllReadyCase{"OneSucceeded", succeeded, ready, true},
                                         AllReadyCase{"OneActive", ready, active, false},
                                         AllReadyCase{"OneFailed", ready, failed("x"), false}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::jobset
