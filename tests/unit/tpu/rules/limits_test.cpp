// Limits of workload objects: what admission refuses and controllers do not plan for.
#include "tpu/rules/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/unit/tpu/rules/jobsets.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"

namespace tpuslice::rules {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kGroup = "/spec/workerGroupSpecs/0";

/// A group of CPU workers.
Json cpu_cluster(std::int64_t replicas, std::int64_t hosts) {
  Json cluster = with(tpu_cluster(), kGroup + "/template", {{"spec", {{"containers", {{{"name", "worker"}}}}}}});
  cluster = with(std::move(cluster), kGroup + "/maxReplicas", replicas);
  cluster = with(std::move(cluster), kGroup + "/replicas", replicas);
  return with(std::move(cluster), kGroup + "/numOfHosts", hosts);
}

std::string raycluster_message(const Json& cluster) { return to_message(validate_raycluster(cluster, nullptr)); }

TEST(RayClusterLimits, RefuseMoreHostsThanTheLargestSliceHas) {
  EXPECT_THAT(raycluster_message(cpu_cluster(1, 9216)), IsEmpty());
  EXPECT_EQ(raycluster_message(cpu_cluster(0, 9217)),
            "spec.workerGroupSpecs[0].numOfHosts: Invalid value: 9217: must be less than or equal to 9216");
}

TEST(RayClusterLimits, RefuseMorePodsThanAControllerCreates) {
  EXPECT_THAT(raycluster_message(cpu_cluster(10'000, 1)), IsEmpty());
  EXPECT_EQ(raycluster_message(cpu_cluster(2000, 6)),
            "spec.workerGroupSpecs[0].replicas: Invalid value: 2000: must be no more than 1666: with the groups before "
            "it, 12000 worker pods are desired, the maximum of a RayCluster is 10000");
}

TEST(RayClusterLimits, CountThePodsOfAllGroups) {
  Json cluster = cpu_cluster(6000, 1);
  Json group = cluster["spec"]["workerGroupSpecs"][0];
  group["groupName"] = "more";
  group["suspend"] = true;
  cluster["spec"]["workerGroupSpecs"].push_back(group);
  EXPECT_THAT(raycluster_message(cluster), StartsWith("spec.workerGroupSpecs[1].replicas: Invalid value: 6000"));
}

TEST(RayClusterLimits, RefuseTooManyGroups) {
  Json cluster = cpu_cluster(0, 1);
  cluster["spec"]["workerGroupSpecs"] = Json::array();
  for (std::size_t i = 0; i <= rules::kMaxGroups; ++i) cluster["spec"]["workerGroupSpecs"].push_back(Json::object());
  EXPECT_EQ(raycluster_message(cluster), "spec.workerGroupSpecs: Too many: 257: must have at most 256 items");
}

TEST(RayClusterLimits, RefuseTooManyPortsOfTheHead) {
  Json cluster = cpu_cluster(0, 1);
  Json ports = Json::array();
  for (int i = 0; i < 257; ++i) ports.push_back({{"containerPort", 1000 + i}});
  Json& head = cluster["spec"]["headGroupSpec"];
  head["template"]["spec"]["containers"][0]["ports"] = ports;
  head["headService"]["spec"]["ports"] = ports;
  EXPECT_EQ(raycluster_message(cluster),
            "[spec.headGroupSpec.headService.spec.ports: Too many: 257: must have at most 256 items, "
            "spec.headGroupSpec.template.spec.containers[0].ports: Too many: 257: must have at most 256 items]");
}

Json cpu_jobset(std::int64_t replicas, std::int64_t parallelism) {
  Json jobset = without(tpu_jobset(), "/spec", "failurePolicy");
  jobset = without(std::move(jobset), "/spec", "successPolicy");
  jobset = without(std::move(jobset), "/spec", "coordinator");
  Json& jobs = jobset["spec"]["replicatedJobs"];
  jobs.erase(1);
  jobs[0]["replicas"] = replicas;
  jobs[0]["template"]["spec"]["parallelism"] = parallelism;
  jobs[0]["template"]["spec"]["completions"] = parallelism;
  return jobset;
}

TEST(JobSetLimits, RefuseMoreJobsThanAControllerCreates) {
  EXPECT_THAT(jobset_message(cpu_jobset(10'000, 10)), IsEmpty());
  EXPECT_EQ(
      jobset_message(cpu_jobset(300'000, 1)),
      "spec.replicatedJobs[0].replicas: Invalid value: 300000: must be no more than 10000: with the replicated jobs "
      "before it, there are 300000 Jobs, the maximum of a JobSet is 10000");
}

TEST(JobSetLimits, RefuseMorePodsThanAClusterHas) {
  EXPECT_THAT(jobset_message(cpu_jobset(1, 100'000)), IsEmpty());
  EXPECT_EQ(jobset_message(cpu_jobset(2, 50'001)),
            "spec.replicatedJobs[0].replicas: Invalid value: 2: must be no more than 1 with a parallelism of 50001: "
            "with the replicated jobs before it, there are 100002 pods at a time, the maximum of a JobSet is 100000");
}

TEST(JobSetLimits, RefuseTooManyReplicatedJobs) {
  Json jobset = cpu_jobset(1, 1);
  for (std::size_t i = 0; i <= rules::kMaxGroups; ++i) jobset["spec"]["replicatedJobs"].push_back(Json::object());
  EXPECT_EQ(jobset_message(jobset), "spec.replicatedJobs: Too many: 258: must have at most 256 items");
}

std::string lws_message(const Json& set) { return to_message(validate_leaderworkerset(set, nullptr)); }

Json groups(std::int64_t replicas, std::int64_t size) {
  return with(with(plain_set(), "/spec/replicas", replicas), "/spec/leaderWorkerTemplate/size", size);
}

TEST(LeaderWorkerSetLimits, RefuseMoreGroupsThanAControllerCreates) {
  EXPECT_THAT(lws_message(groups(10'000, 1)), IsEmpty());
  EXPECT_EQ(lws_message(groups(1'000'000, 1)),
            "spec.replicas: Invalid value: 1000000: must be between 0 and 10000, inclusive");
}

TEST(LeaderWorkerSetLimits, RefuseMorePodsThanAClusterHas) {
  EXPECT_THAT(lws_message(groups(10, 10'000)), IsEmpty());
  EXPECT_EQ(lws_message(groups(11, 10'000)),
            "spec.replicas: Invalid value: 11: must be no more than 10: groups of 10000 pods would be 110000 pods, the "
            "maximum is 100000");
  EXPECT_EQ(lws_message(groups(1, 5'000'000)),
            "spec.leaderWorkerTemplate.size: Invalid value: 5000000: must be between 1 and 100000, inclusive");
}

TEST(LeaderWorkerSetLimits, LetAnOlderSetBeScaledDown) {
  EXPECT_THAT(validate_leaderworkerset(groups(20'000, 1), nullptr), SizeIs(1));
  const Json old = groups(20'000, 1);
  EXPECT_THAT(validate_leaderworkerset(with(old, "/metadata/labels", {{"a", "b"}}), &old), IsEmpty());
  EXPECT_THAT(validate_leaderworkerset(groups(5000, 1), &old), IsEmpty());
}

TEST(ReportedErrors, AreLimited) {
  Json jobset = cpu_jobset(1, 1);
  for (std::size_t i = 0; i < 200; ++i) jobset["spec"]["replicatedJobs"].push_back(Json::object());
  EXPECT_THAT(validate_jobset(jobset, nullptr), SizeIs(::testing::Gt(200U)));
  EXPECT_THAT(jobset_message(jobset),
              AllOf(HasSubstr(", and "), EndsWith(" more]"), ::testing::SizeIs(::testing::Lt(4096U))));
}

}  // namespace
}  // namespace tpuslice::rules
