#include "controllers/rayjob/cleanup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayjob/render.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using namespace std::chrono_literals;

struct CleanupCase {
  const char* name;
  const char* spec;
  const char* job;         ///< jobStatus
  const char* deployment;  ///< jobDeploymentStatus
  DeletionPolicy due;      ///< A minute after the end.
  std::optional<Duration> next = std::nullopt;
};

constexpr const char* kRules = R"({"deletionStrategy": {"deletionRules": [
    {"policy": "DeleteWorkers", "condition": {"jobStatus": "FAILED"}},
    {"policy": "DeleteCluster", "condition": {"jobStatus": "FAILED", "ttlSeconds": 90}},
    {"policy": "DeleteCluster", "condition": {"jobStatus": "SUCCEEDED"}},
    {"policy": "DeleteSelf", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 60}}]}})";
constexpr const char* kDeploymentRule = R"({"deletionStrategy": {"deletionRules": [
    {"policy": "DeleteCluster", "condition": {"jobDeploymentStatus": "Failed", "ttlSeconds": 10}}]}})";
constexpr const char* kLegacy = R"({"ttlSecondsAfterFinished": 30, "shutdownAfterJobFinishes": true,
    "deletionStrategy": {"onSuccess": {"policy": "DeleteCluster"}, "onFailure": {"policy": "DeleteNone"}}})";
constexpr const char* kShutdown = R"({"shutdownAfterJobFinishes": true, "ttlSecondsAfterFinished": 90})";

class Cleanup : public testing::TestWithParam<CleanupCase> {};

TEST_P(Cleanup, IsDue) {
  const CleanupCase& each = GetParam();
  const Json job = {{"spec", Json::parse(each.spec)}};
  RayJobStatus status;
  status.job = each.job;
  status.deployment = each.deployment;
  status.ended = Timestamp(1h);
  const CleanupDecision decision = decide_cleanup(RayJobSpec::read(job), status, Timestamp(1h + 60s));
  EXPECT_EQ(decision.policy, each.due);
  EXPECT_EQ(decision.requeue_after, each.next);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Cleanup,
    testing::Values(CleanupCase{"KeepsAll", "{}", "SUCCEEDED", "Complete", DeletionPolicy::kNone},
                    CleanupCase{"ShutdownAfterTtl", kShutdown, "FAILED", "Failed", DeletionPolicy::kNone, 30s},
                    CleanupCase{"RuleForSuccess", kRules, "SUCCEEDED", "Complete", DeletionPolicy::kSelf},
                    CleanupCase{"RuleForFailure", kRules, "FAILED", "Failed", DeletionPolicy::kWorkers, 30s},
                    CleanupCase{"StoppedCountsAsFailure", kRules, "STOPPED", "Complete", DeletionPolicy::kWorkers, 30s},
                    CleanupCase{"DeadlineCountsAsFailure", kRules, "RUNNING", "Failed", DeletionPolicy::kWorkers, 30s},
                    CleanupCase{"DeploymentFailed", kDeploymentRule, "RUNNING", "Failed", DeletionPolicy::kCluster},
                    CleanupCase{"DeploymentComplete", kDeploymentRule, "SUCCEEDED", "Complete", DeletionPolicy::kNone},
                    CleanupCase{"LegacySuccess", kLegacy, "SUCCEEDED", "Complete", DeletionPolicy::kCluster},
                    CleanupCase{"LegacyFailure", kLegacy, "STOPPED", "Complete", DeletionPolicy::kNone},
                    CleanupCase{"EmptyRulesAreNone",
                                R"({"shutdownAfterJobFinishes": true, "deletionStrategy": {"deletionRules": []}})",
                                "SUCCEEDED", "Complete", DeletionPolicy::kCluster},
                    CleanupCase{
                        "SelectedClusterIsKept",
                        R"({"shutdownAfterJobFinishes": true, "clusterSelector": {"ray.io/cluster": "shared"}})",
                        "SUCCEEDED", "Complete", DeletionPolicy::kNone}),
    [](const auto& test) { return std::string(test.param.name); });

/// The next plan finishes the RayJob.
World about_to_finish(const Json& spec) {
  World world(a_rayjob(spec));
  world.settle();
  world.start_cluster();
  world.settle();
  world.end_submitter("Complete");
  world.ray.set_job(world.job_id(), "SUCCEEDED", "");
  world.pass(3s);
  world.step();
  world.advance();
  return world;
}

World finished(const Json& spec) {
  World world = about_to_finish(spec);
  world.step();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
  world.take_events();
  return world;
}

TEST(FinishedRayJob, DeletesItsClusterAndKeepsTheSubmitterWithTheLog) {
  World world = finished({{"shutdownAfterJobFinishes", true}, {"ttlSecondsAfterFinished", 60}});
  world.settle();
  EXPECT_FALSE(world.cluster().is_null());
  EXPECT_EQ(world.plan().requeue_after, Duration(60s));
  world.pass(60s);
  world.settle();
  EXPECT_TRUE(world.cluster().is_null());
  EXPECT_FALSE(world.submitter().is_null());
  EXPECT_THAT(world.take_events(), ElementsAre("DeletedRayCluster"));
  EXPECT_THAT(world.plan(), plan::IsEmptyPlan());
}

TEST(FinishedRayJob, WithoutAnEndTimeCountsFromWhenItIsSeen) {
  World world = finished({{"shutdownAfterJobFinishes", true}, {"ttlSecondsAfterFinished", 60}});
  world.object().mutable_json()["status"].erase("endTime");
  world.pass(1h);
  world.settle();
  const std::string seen = format_rfc3339(world.now());
  EXPECT_EQ(world.status("endTime"), seen);
  EXPECT_FALSE(world.cluster().is_null());
  world.pass(60s);
  world.settle();
  EXPECT_TRUE(world.cluster().is_null());
  EXPECT_EQ(world.status("endTime"), seen);
}

TEST(FinishedRayJob, SuspendsTheWorkersOnce) {
  World world =
      finished({{"deletionStrategy",
                 {{"deletionRules",
                   Json::array({{{"policy", "DeleteWorkers"}, {"condition", {{"jobStatus", "SUCCEEDED"}}}}})}}}});
  world.settle();
  EXPECT_EQ(world.cluster()["spec"]["workerGroupSpecs"][0]["suspend"], true);
  EXPECT_THAT(world.take_events(), ElementsAre("UpdatedRayCluster"));
}

TEST(FinishedRayJob, DeletesItself) {
  World world = finished(
      {{"deletionStrategy",
        {{"deletionRules", Json::array({{{"policy", "DeleteSelf"}, {"condition", {{"jobStatus", "SUCCEEDED"}}}}})}}}});
  world.settle();
  EXPECT_TRUE(world.gone());
}

TEST(FinishedRayJob, IsCounted) {
  World world = about_to_finish(Json::object());
  const plan::Plan plan = world.step();
  ASSERT_THAT(plan.measurements, SizeIs(1));
  EXPECT_EQ(plan.measurements[0].name, kFinishedRayJobs.name);
  EXPECT_THAT(plan.measurements[0].labels, ElementsAre(Pair("result", "Complete")));
  EXPECT_THAT(world.plan().measurements, IsEmpty());
}

TEST(FinishedRayJob, IsNotFollowedAnyMore) {
  World world = finished(Json::object());
  world.settle();
  world.take_requests();
  world.pass(1h);
  world.settle();
  EXPECT_THAT(world.take_requests(), IsEmpty());
  EXPECT_THAT(world.plan(), plan::IsEmptyPlan());
}

}  // namespace
}  // namespace tpuslice::rayjob
