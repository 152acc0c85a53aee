#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/jobsets.h"

namespace tpuslice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::jobset_message;
using testing::jobset_paths;
using testing::tpu_jobset;
using testing::with;
using testing::without;

const std::string kTpuJob = "/spec/replicatedJobs/1/template/spec";
const std::string kTpuPod = kTpuJob + "/template/spec";
const std::string kTpuJobPath = "spec.replicatedJobs[1].template.spec";

/// Slices of another shape, `pods` in each.
Json slices_of(const char* accelerator, const char* topology, const char* chips, int pods) {
  Json jobset = with(
      tpu_jobset(), kTpuPod + "/nodeSelector",
      Json({{"cloud.google.com/gke-tpu-accelerator", accelerator}, {"cloud.google.com/gke-tpu-topology", topology}}));
  jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
        ["google.com/tpu"] = chips;
  jobset = with(jobset, kTpuJob + "/parallelism", pods);
  return with(jobset, kTpuJob + "/completions", pods);
}

TEST(JobSetSlices, HaveAsManyPodsAsHosts) {
  EXPECT_THAT(jobset_message(slices_of("tpu-v6e-slice", "4x4", "4", 4)), IsEmpty());
  EXPECT_THAT(jobset_message(slices_of("tpu-v5p-slice", "2x2x4", "4", 4)), IsEmpty());
  const Json jobset = with(tpu_jobset(), kTpuJob + "/parallelism", 4);
  EXPECT_THAT(jobset_paths(jobset), ElementsAre(kTpuJobPath + ".parallelism"));
  EXPECT_THAT(jobset_message(jobset), AllOf(HasSubstr("parallelism: Invalid value: 4"), HasSubstr("8 hosts"),
                                            HasSubstr("set parallelism and completions: 8")));
}

TEST(JobSetSlices, AreNamedByARequiredNodeAffinityAsWell) {
  const Json selected = slices_of("tpu-v6e-slice", "4x4", "4", 1);
  Json jobset = without(selected, kTpuPod, "nodeSelector");
  Json& affinity = jobset[Json::json_pointer(kTpuPod)]["affinity"]["nodeAffinity"];
  affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::parse(R"([{"matchExpressions": [
      {"key": "cloud.google.com/gke-tpu-accelerator", "operator": "In", "values": ["tpu-v6e-slice"]},
      {"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]}]}])");
  EXPECT_THAT(jobset_message(jobset), HasSubstr("4 hosts, set parallelism and completions: 4"));
  EXPECT_EQ(jobset_message(jobset), jobset_message(selected));
}

TEST(JobSetSlices, HaveOnePodByDefault) {
  const Json jobset = without(without(tpu_jobset(), kTpuJob, "parallelism"), "/spec", "coordinator");
  EXPECT_THAT(jobset_message(jobset), HasSubstr("parallelism: Invalid value: 1"));
}

TEST(JobSetSlices, AreNotJobsOfOnePod) {
  const auto advice = [](int replicas) {
    const Json jobset = without(slices_of("tpu-v6e-slice", "4x4", "4", 1), "/spec", "coordinator");
    return jobset_message(with(jobset, "/spec/replicatedJobs/1/replicas", replicas));
  };
  EXPECT_THAT(advice(4), HasSubstr("4 hosts, set parallelism and completions: 4, and replicas: 1"));
  EXPECT_THAT(advice(8), HasSubstr("4 hosts, set parallelism and completions: 4, and replicas: 2"));
  EXPECT_THAT(advice(2), ::testing::Not(HasSubstr("and replicas")));
  EXPECT_THAT(jobset_message(with(tpu_jobset(), kTpuJob + "/parallelism", 4)),
              ::testing::Not(HasSubstr("and replicas")));
}

// A second wave of pods would be a second slice of the same names.
TEST(JobSetSlices, NeedAsManyCompletionsAsHosts) {
  const Json jobset = with(tpu_jobset(), kTpuJob + "/completions", 16);
  EXPECT_THAT(jobset_paths(jobset), ElementsAre(kTpuJobPath + ".completions"));
  EXPECT_THAT(jobset_message(jobset),
              AllOf(HasSubstr("completions: Invalid value: 16"), HasSubstr("set parallelism and completions: 8")));
  EXPECT_THAT(jobset_message(without(without(tpu_jobset(), kTpuJob, "completions"), "/spec", "coordinator")),
              HasSubstr("completions: Required value: a slice of 8 hosts"));
}

TEST(JobSetSlices, NeedCompletionIndexes) {
  const Json jobset = with(without(tpu_jobset(), "/spec", "coordinator"), kTpuJob + "/completionMode", "NonIndexed");
  EXPECT_THAT(jobset_paths(jobset), ElementsAre(kTpuJobPath + ".completionMode"));
}

TEST(JobSetSlices, OfOneHostCanHaveAnyNumberOfPods) {
  Json jobset = slices_of("tpu-v6e-slice", "2x2", "4", 5);
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  jobset = with(without(jobset, "/spec", "coordinator"), kTpuJob + "/completionMode", "NonIndexed");
  EXPECT_THAT(jobset_message(with(jobset, kTpuJob + "/completions", 10)), IsEmpty());
}

TEST(JobSetSlices, NeedATopologyOfTheirAccelerator) {
  EXPECT_THAT(jobset_paths(slices_of("tpu-v6e-slice", "3x3", "4", 4)),
              ElementsAre(kTpuJobPath + ".template.spec.nodeSelector[cloud.google.com/gke-tpu-topology]"));
  EXPECT_THAT(jobset_paths(slices_of("tpu-v6e-slice", "4x4", "3", 4)),
              ElementsAre(kTpuJobPath + ".template.spec.containers[0].resources.limits[google.com/tpu]"));
}

// A queue such as Kueue sets node selectors when it resumes the JobSet.
TEST(JobSetSlices, MayHaveNoNodeSelectorWhileSuspended) {
  const Json running = without(tpu_jobset(), kTpuPod + "/nodeSelector", "cloud.google.com/gke-tpu-topology");
  const Json suspended = with(running, "/spec/suspend", true);
  EXPECT_THAT(jobset_message(running), HasSubstr("nodeSelector[cloud.google.com/gke-tpu-topology]: Required value"));
  EXPECT_THAT(jobset_message(suspended), IsEmpty());
  EXPECT_THAT(jobset_message(tpu_jobset(), &suspended), IsEmpty());
  EXPECT_THAT(jobset_message(running, &suspended), HasSubstr("nodeSelector[cloud.google.com/gke-tpu-topology]"));
}

TEST(JobSetSlices, MayChooseNodesByOtherLabels) {
  const Json jobset =
      with(tpu_jobset(), kTpuPod + "/nodeSelector", Json({{"cloud.google.com/gke-nodepool", "my-pool"}}));
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(warn_jobset(jobset), ElementsAre(HasSubstr("without them the number of hosts cannot be checked")));
  EXPECT_THAT(warn_jobset(with(jobset, "/spec/suspend", true)), IsEmpty()) << "they may be set when it is admitted";
}

TEST(JobSetSlices, MayChangeTheirShapeWhileSuspended) {
  const Json running = tpu_jobset();
  const Json suspended = with(running, "/spec/suspend", true);
  const Json other = slices_of("tpu-v6e-slice", "4x4", "4", 4);
  EXPECT_THAT(jobset_message(other, &suspended), IsEmpty());
  EXPECT_THAT(jobset_message(other, &running), HasSubstr("nodeSelector[cloud.google.com/gke-tpu-topology]"));
}

TEST(WarnJobSet, HasNoWarningForAnOrdinaryJobSet) { EXPECT_THAT(warn_jobset(tpu_jobset()), IsEmpty()); }

TEST(WarnJobSet, WarnsIfHostNamesAreDisabled) {
  EXPECT_THAT(warn_jobset(with(tpu_jobset(), "/spec/network/enableDNSHostnames", false)),
              ElementsAre(AllOf(HasSubstr("enableDNSHostnames"), HasSubstr("spec.replicatedJobs[1]"))));
  Json single = slices_of("tpu-v6e-slice", "2x2", "4", 1);
  EXPECT_THAT(warn_jobset(with(single, "/spec/network/enableDNSHostnames", false)), IsEmpty());
}

TEST(WarnJobSet, WarnsOfATimeToLiveOfFinishedJobs) {
  const std::string job = "/spec/replicatedJobs/0/template/spec/ttlSecondsAfterFinished";
  EXPECT_THAT(
      warn_jobset(with(tpu_jobset(), job, 0)),
      ElementsAre("spec.replicatedJobs[0].template.spec.ttlSecondsAfterFinished: has no effect, the JobSet needs its "
                  "finished Jobs; set spec.ttlSecondsAfterFinished, which deletes the JobSet with them"));
  EXPECT_THAT(warn_jobset(with(tpu_jobset(), "/spec/ttlSecondsAfterFinished", 60)), IsEmpty());
}

TEST(WarnJobSet, WarnsOfHostNetworkWithoutClusterDns) {
  const Json jobset = with(tpu_jobset(), kTpuPod + "/hostNetwork", true);
  EXPECT_THAT(warn_jobset(jobset), ElementsAre(HasSubstr("dnsPolicy")));
  EXPECT_THAT(warn_jobset(with(jobset, kTpuPod + "/dnsPolicy", "ClusterFirstWithHostNet")), IsEmpty());
  EXPECT_THAT(warn_jobset(with(tpu_jobset(), "/spec/replicatedJobs/0/template/spec/template/spec/hostNetwork", true)),
              IsEmpty());
}

TEST(WarnJobSet, WarnsIfSingleHostsRestart) {
  EXPECT_THAT(warn_jobset(with(tpu_jobset(), kTpuJob + "/backoffLimit", 2)),
              ElementsAre(AllOf(HasSubstr("backoffLimit: is 2;"), HasSubstr("set backoffLimit: 0"))));
  const Json jobset = without(tpu_jobset(), kTpuJob, "backoffLimit");
  EXPECT_THAT(warn_jobset(jobset), ElementsAre(HasSubstr("is absent, which means 6;")));
  EXPECT_THAT(warn_jobset(with(jobset, kTpuJob + "/podReplacementPolicy", "Failed")), IsEmpty());
  EXPECT_THAT(warn_jobset(without(slices_of("tpu-v6e-slice", "2x2", "4", 1), kTpuJob, "backoffLimit")), IsEmpty());
}

Json with_num_slices(const Json& jobset, const Json& variable) {
  Json env = variable;
  env["name"] = "MEGASCALE_NUM_SLICES";
  return with(jobset, kTpuPod + "/containers/0/env", Json::array({Json({{"name", "A"}, {"value", "9"}}), env}));
}

TEST(WarnJobSet, WarnsIfTheNumberOfSlicesIsNotTheNumberOfJobs) {
  EXPECT_THAT(warn_jobset(with_num_slices(tpu_jobset(), Json({{"value", "3"}}))),
              ElementsAre(AllOf(HasSubstr("containers[0].env[1].value"), HasSubstr("is 3, but"),
                                HasSubstr("spec.replicatedJobs[1].replicas is 2"))));
  EXPECT_THAT(warn_jobset(with_num_slices(tpu_jobset(), Json({{"value", "2"}}))), IsEmpty());
  EXPECT_THAT(warn_jobset(with_num_slices(tpu_jobset(), Json({{"value", ""}}))), IsEmpty());
  EXPECT_THAT(warn_jobset(with_num_slices(tpu_jobset(), Json({{"valueFrom", Json({{"fieldRef", Json::object()}})}}))),
              IsEmpty());
}

TEST(WarnJobSet, WarnsIfSliceIdsOfSingleHostsAreNotUnique) {
  const Json jobset = with_num_slices(slices_of("tpu-v6e-slice", "2x2", "4", 2), Json({{"value", "4"}}));
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(warn_jobset(jobset),
              ElementsAre(AllOf(HasSubstr("containers[0].env[1].value: MEGASCALE_NUM_SLICES is set for 2 Jobs of 2 "
                                          "single-host slices each, so slice ids are not unique: set "
                                          "spec.replicatedJobs[1].replicas or completions to 1"))));
  EXPECT_THAT(warn_jobset(with_num_slices(jobset, Json({{"value", ""}}))), IsEmpty());
  EXPECT_THAT(warn_jobset(with_num_slices(slices_of("tpu-v6e-slice", "2x2", "4", 1), Json({{"value", "2"}}))),
              IsEmpty());
  const auto one_job = [](const char* count) {
    const Json four = slices_of("tpu-v6e-slice", "2x2", "4", 4);
    return with_num_slices(with(four, "/spec/replicatedJobs/1/replicas", 1), Json({{"value", count}}));
  };
  EXPECT_THAT(warn_jobset(one_job("4")), IsEmpty());
  EXPECT_THAT(warn_jobset(one_job("2")), ElementsAre(HasSubstr("is 2, but " + kTpuJobPath + ".completions is 4")));
}

TEST(WarnJobSet, WarnsOfMultisliceOnGenerationsWithoutIt) {
  const Json jobset = slices_of("tpu-v3-slice", "4x4", "4", 4);
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(warn_jobset(jobset), ElementsAre(AllOf(HasSubstr("2 slices cannot train together on tpu-v3-slice"))));
  EXPECT_THAT(warn_jobset(with_num_slices(jobset, Json({{"value", ""}}))), IsEmpty());
  EXPECT_THAT(warn_jobset(with(jobset, "/spec/replicatedJobs/1/replicas", 1)), IsEmpty());
}

TEST(WarnJobSet, WarnsThatStartupPolicyIsDeprecated) {
  const Json jobset = without(tpu_jobset(), "/spec/replicatedJobs/1", "dependsOn");
  EXPECT_THAT(warn_jobset(with(jobset, "/spec/startupPolicy/startupPolicyOrder", "InOrder")),
              ElementsAre(AllOf(HasSubstr("deprecated"), HasSubstr("dependsOn"))));
  EXPECT_THAT(warn_jobset(with(jobset, "/spec/startupPolicy/startupPolicyOrder", "AnyOrder")), IsEmpty());
}

TEST(WarnJobSet, TruncatesLongWarnings) {
  for (const std::string& warning :
       warn_jobset(with_num_slices(tpu_jobset(), Json({{"value", std::string(300, '9')}})))) {
    EXPECT_LT(warning.size(), 256U);
  }
}

}  // namespace
}  // namespace tpuslice::rules
