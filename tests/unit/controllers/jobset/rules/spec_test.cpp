#include "controllers/jobset/rules/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(JobSetSpec, HasTheDefaultsOfUpstream) {
  Json json = a_jobset("train").job("workers").json();
  json["spec"]["replicatedJobs"][0].erase("replicas");
  const Object object(json);
  const JobSetSpec spec = JobSetSpec::read(object);
  ASSERT_EQ(spec.jobs.size(), 1U);
  const ReplicatedJob& job = spec.jobs[0];
  EXPECT_EQ(job.group, "default");
  EXPECT_EQ(job.replicas, 1);
  EXPECT_EQ(job.parallelism, 1);
  EXPECT_EQ(job.completions, 1);
  EXPECT_TRUE(job.indexed);
  EXPECT_FALSE(spec.suspended);
  EXPECT_TRUE(spec.dns);
  EXPECT_TRUE(spec.publish_not_ready);
  EXPECT_EQ(spec.subdomain, "train");
  EXPECT_FALSE(spec.success.any);
  EXPECT_THAT(spec.success.targets, IsEmpty());
  EXPECT_FALSE(spec.failure.has_value());
  EXPECT_FALSE(spec.in_order);
  EXPECT_EQ(spec.coordinator, "");
  EXPECT_FALSE(spec.managed_by_other());
  EXPECT_FALSE(spec.ttl.has_value());
  EXPECT_FALSE(spec.restart_at_failure_target);
}

TEST(JobSetSpec, HasNoCompletionsIfOnlyParallelismIsSet) {
  const Object object = a_jobset("train").job("workers").of_job("/template/spec/parallelism", 3).object();
  EXPECT_EQ(JobSetSpec::read(object).jobs[0].completions, std::nullopt);
}

TEST(JobSetSpec, ReadsTheNetwork) {
  const Object object =
      a_jobset("train")
          .set("/spec/network",
               {{"subdomain", "pods"}, {"enableDNSHostnames", false}, {"publishNotReadyAddresses", false}})
          .object();
  const JobSetSpec spec = JobSetSpec::read(object);
  EXPECT_EQ(spec.subdomain, "pods");
  EXPECT_FALSE(spec.dns);
  EXPECT_FALSE(spec.publish_not_ready);
}

TEST(JobSetSpec, ReadsTheFailurePolicy) {
  const Object object = a_jobset("train")
                            .job("workers")
                            .restarts(3)
                            .set("/spec/failurePolicy/restartStrategy", "BlockingRecreate")
                            .rule({{"action", "FailJobSet"},
                                   {"onJobFailureReasons", {"PodFailurePolicy"}},
                                   {"onJobFailureMessagePatterns", {"oom"}},
                                   {"targetReplicatedJobs", {"workers"}}})
                            .rule({{"name", "again"}, {"action", "RestartJobSetAndIgnoreMaxRestarts"}})
                            .object();
  const JobSetSpec spec = JobSetSpec::read(object);
  ASSERT_TRUE(spec.failure.has_value());
  EXPECT_EQ(spec.failure->max_restarts, 3);
  EXPECT_TRUE(spec.failure->blocking);
  EXPECT_FALSE(spec.failure->restarts_single_jobs());
  ASSERT_EQ(spec.failure->rules.size(), 2U);
  const FailureRule& first = spec.failure->rules[0];
  EXPECT_EQ(first.name, "failurePolicyRule0");
  EXPECT_EQ(first.action, FailureAction::kFailJobSet);
  EXPECT_THAT(first.reasons, ElementsAre("PodFailurePolicy"));
  EXPECT_THAT(first.message_patterns, ElementsAre("oom"));
  EXPECT_THAT(first.targets, ElementsAre("workers"));
  EXPECT_EQ(spec.failure->rules[1].name, "again");
  EXPECT_EQ(spec.failure->rules[1].action, FailureAction::kRestartJobSetAndIgnoreMaxRestarts);
}

class SingleJobActions : public testing::TestWithParam<const char*> {};

TEST_P(SingleJobActions, RestartSingleJobs) {
  const Object object = a_jobset("train").job("workers").rule({{"action", GetParam()}}).object();
  EXPECT_TRUE(JobSetSpec::read(object).failure->restarts_single_jobs());
}

INSTANTIATE_TEST_SUITE_P(Both, SingleJobActions, testing::Values("RestartJob", "RestartJobAndIgnoreMaxRestarts"),
                         [](const auto& test) { return std::string(test.param); });

TEST(JobSetSpec, ReadsAnEmptyFailurePolicyAsNoRestarts) {
  const Object object = a_jobset("train").set("/spec/failurePolicy", Json::object()).object();
  const JobSetSpec spec = JobSetSpec::read(object);
  ASSERT_TRUE(spec.failure.has_value());
  EXPECT_EQ(spec.failure->max_restarts, 0);
  EXPECT_FALSE(spec.failure->blocking);
}

TEST(JobSetSpec, ReadsDependencies) {
  const Object object = a_jobset("train")
                            .job("data")
                            .job("driver")
                            .job("workers")
                            .depends_on("data", "Complete")
                            .depends_on("driver", "Ready")
                            .object();
  const JobSetSpec spec = JobSetSpec::read(object);
  ASSERT_EQ(spec.jobs[2].depends_on.size(), 2U);
  EXPECT_EQ(spec.jobs[2].depends_on[0].name, "data");
  EXPECT_TRUE(spec.jobs[2].depends_on[0].complete);
  EXPECT_EQ(spec.jobs[2].depends_on[1].name, "driver");
  EXPECT_FALSE(spec.jobs[2].depends_on[1].complete);
}

TEST(JobSetSpec, ReadsTheSuccessPolicyAndTtl) {
  const Object object = a_jobset("train")
                            .job("workers")
                            .set("/spec/successPolicy", {{"operator", "Any"}, {"targetReplicatedJobs", {"workers"}}})
                            .set("/spec/ttlSecondsAfterFinished", 60)
                            .object();
  const JobSetSpec spec = JobSetSpec::read(object);
  EXPECT_TRUE(spec.success.any);
  EXPECT_THAT(spec.success.targets, ElementsAre("workers"));
  EXPECT_EQ(spec.ttl, 60s);
}

TEST(JobSetSpec, DistinguishesATtlOfZeroFromNone) {
  const Object object = a_jobset("train").set("/spec/ttlSecondsAfterFinished", 0).object();
  EXPECT_EQ(JobSetSpec::read(object).ttl, 0s);
}

TEST(JobSetSpec, BuildsTheAddressOfTheCoordinator) {
  const Json coordinator = {{"replicatedJob", "driver"}, {"jobIndex", 1}, {"podIndex", 2}};
  const Object plain = a_jobset("train").set("/spec/coordinator", coordinator).object();
  EXPECT_EQ(JobSetSpec::read(plain).coordinator, "train-driver-1-2.train");
  const Object named =
      a_jobset("train").set("/spec/coordinator/replicatedJob", "driver").set("/spec/network/subdomain", "net").object();
  EXPECT_EQ(JobSetSpec::read(named).coordinator, "train-driver-0-0.net");
}

TEST(JobSetSpec, IsManagedElsewhereByAnotherManager) {
  const Object ours = a_jobset("train").set("/spec/managedBy", "jobset.sigs.k8s.io/jobset-controller").object();
  EXPECT_FALSE(JobSetSpec::read(ours).managed_by_other());
  const Object theirs = a_jobset("train").set("/spec/managedBy", "kueue.x-k8s.io/multikueue").object();
  EXPECT_TRUE(JobSetSpec::read(theirs).managed_by_other());
}

TEST(JobSetSpec, NamesVolumeClaimsByTemplateAndJobSet) {
  const Json templates = Json::array({{{"metadata", {{"name", "data"}}}}, {{"metadata", {{"name", "logs"}}}}});
  const Object object =
      a_jobset("train")
          .set("/spec/volumeClaimPolicies",
               Json::array({{{"templates", templates}, {"retentionPolicy", {{"whenDeleted", "Retain"}}}},
                            {{"templates", Json::array({{{"metadata", {{"name", "scratch"}}}}})}}}))
          .object();
  const JobSetSpec spec = JobSetSpec::read(object);
  ASSERT_EQ(spec.claims.size(), 3U);
  EXPECT_EQ(spec.claims[0].name, "data-train");
  EXPECT_EQ(spec.claims[1].name, "logs-train");
  EXPECT_TRUE(spec.claims[1].retained);
  EXPECT_EQ(spec.claims[2].volume, "scratch");
  EXPECT_FALSE(spec.claims[2].retained);
}

TEST(JobSetSpec, CountsJobsInTotalAndByGroup) {
  const Object object =
      a_jobset("train").job("driver").group("cpu").job("a", 3).job("monitor", 2).group("cpu").object();
  const JobSetSpec spec = JobSetSpec::read(object);
  EXPECT_EQ(spec.total_replicas(), 6);
  EXPECT_EQ(spec.group_replicas("cpu"), 3);
  EXPECT_EQ(spec.group_replicas("default"), 3);
  EXPECT_EQ(spec.group_replicas("none"), 0);
  EXPECT_EQ(spec.jobs_before(spec.jobs[2]), 4);
  EXPECT_EQ(spec.jobs_before(spec.jobs[2], "cpu"), 1);
  EXPECT_EQ(spec.find("a"), &spec.jobs[1]);
  EXPECT_EQ(spec.find("b"), nullptr);
}

class OddSpecs : public testing::TestWithParam<const char*> {};

TEST_P(OddSpecs, AreReadWithoutException) {
  const Object object(Json::parse(GetParam()));
  EXPECT_NO_THROW((void)JobSetSpec::read(object));
  EXPECT_NO_THROW((void)JobSetStatus::read(object));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OddSpecs,
    testing::Values(R"({})", R"({"spec": null, "status": null})", R"({"spec": 1, "status": []})",
                    R"({"spec": {"replicatedJobs": {"a": 1}}})",
                    R"({"spec": {"replicatedJobs": [1, {"name": 2, "replicas": "x"}]}})",
                    R"({"spec": {"failurePolicy": [], "successPolicy": 2, "coordinator": "x"}})",
                    R"({"spec": {"failurePolicy": {"rules": [3, null]}}})",
                    R"({"spec": {"volumeClaimPolicies": [1, {"templates": [2]}]}})",
                    R"({"status": {"restarts": "x", "replicatedJobsStatus": [1, {"jobRestarts": 2}]}})"));

}  // namespace
}  // namespace tpuslice::jobset
