#include "controllers/jobset/job_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/error_matchers.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Json built(const JobSetBuilder& jobset, std::size_t job = 0, int index = 0,
           JobBuilder::PodTemplate pods = JobBuilder::PodTemplate::kMutated) {
  const Object object = jobset.object();
  Result<Json> out = JobBuilder(object, JobSetStatus::read(object), {}).build(job, index, pods);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().message());
  return out.ok() ? *std::move(out) : Json();
}

Json pod_spec(const Json& job) { return job["spec"]["template"]["spec"]; }

std::string mutated_by(const Json& job) {
  return string_at(job, {"spec", "template", "metadata", "annotations", tpu::kMutatedBy});
}

JobSetBuilder of_slices() { return a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4"); }

TEST(JobBuilder, BuildsAJobFromTheTemplate) {
  const Object object = a_jobset("train").job("workers", 2).hosts(3).object();
  const JobSetSpec spec = JobSetSpec::read(object);
  const StringMap labels = job_labels(spec, spec.jobs[0], 1, {});
  EXPECT_EQ(*JobBuilder(object, {}, {}).build(0, 1),
            Json({{"apiVersion", "batch/v1"},
                  {"kind", "Job"},
                  {"metadata",
                   {{"name", "train-workers-1"},
                    {"namespace", "default"},
                    {"labels", labels},
                    {"annotations", labels},
                    {"ownerReferences", Json::array({{{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                                                      {"kind", "JobSet"},
                                                      {"name", "train"},
                                                      {"uid", "uid-of-train"},
                                                      {"controller", true},
                                                      {"blockOwnerDeletion", true}}})}}},
                  {"spec",
                   {{"parallelism", 3},
                    {"completions", 3},
                    {"completionMode", "Indexed"},
                    {"suspend", false},
                    {"template",
                     {{"metadata", {{"labels", labels}, {"annotations", labels}}},
                      {"spec",
                       {{"containers", Json::array({{{"name", "main"}, {"image", "image"}}})},
                        {"restartPolicy", "OnFailure"},
                        {"subdomain", "train"}}}}}}}}));
}

TEST(JobBuilder, KeepsTheFieldsOfTheTemplates) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  jobset.of_job("/template/metadata", {{"labels", {{"a", "1"}}}, {"annotations", {{"b", "2"}}}, {"name", "not-this"}});
  jobset.of_job("/template/spec/completionMode", "NonIndexed").of_job("/template/spec/backoffLimit", 6);
  jobset.of_job("/template/spec/suspend", true).of_pod("/spec/restartPolicy", "Never");
  jobset.of_pod("/metadata", {{"labels", {{"c", "3"}}}}).of_pod("/spec/unheardOf", 1);
  const Json job = built(jobset);
  EXPECT_EQ(job["metadata"]["labels"]["a"], "1");
  EXPECT_EQ(job["metadata"]["annotations"]["b"], "2");
  EXPECT_EQ(job["metadata"]["name"], "train-workers-0");
  EXPECT_EQ(job["spec"]["completionMode"], "NonIndexed");
  EXPECT_EQ(job["spec"]["backoffLimit"], 6);
  EXPECT_EQ(job["spec"]["suspend"], false) << "spec.suspend of the JobSet decides";
  EXPECT_EQ(pod_spec(job)["restartPolicy"], "Never");
  EXPECT_EQ(pod_spec(job)["unheardOf"], 1);
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"]["c"], "3");
  EXPECT_FALSE(job["spec"]["template"]["metadata"]["labels"].contains("a"))
      << "labels of the Job are not labels of its pods";
}

// The Job would be deleted while the JobSet runs, and created again.
TEST(JobBuilder, LeavesOutTheTimeToLiveOfFinishedJobs) {
  const Json job = built(a_jobset("train").job("workers").of_job("/template/spec/ttlSecondsAfterFinished", 4));
  EXPECT_FALSE(job["spec"].contains("ttlSecondsAfterFinished"));
}

TEST(JobBuilder, OverwritesTheJobSetNameOfTheTemplate) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  jobset.of_job("/template/metadata/labels", {{std::string(kJobSetName), "other"}});
  jobset.of_pod("/metadata/labels", {{std::string(kJobSetName), "other"}});
  const Json job = built(jobset);
  EXPECT_EQ(job["metadata"]["labels"][std::string(kJobSetName)], "train");
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"][std::string(kJobSetName)], "train");
}

TEST(JobBuilder, SuspendsTheJobsOfASuspendedJobSet) {
  EXPECT_EQ(built(a_jobset("train").job("workers").suspend())["spec"]["suspend"], true);
}

TEST(JobBuilder, GivesPodsTheSubdomain) {
  JobSetBuilder jobset = a_jobset("train").job("workers").set("/spec/network/subdomain", "pods");
  EXPECT_EQ(pod_spec(built(jobset))["subdomain"], "pods");
  jobset.set("/spec/network/enableDNSHostnames", false);
  EXPECT_FALSE(pod_spec(built(jobset)).contains("subdomain"));
}

TEST(JobBuilder, SetsTheAttempt) {
  const Json job = built(a_jobset("train").job("workers").set("/status/restarts", 3));
  EXPECT_EQ(job["metadata"]["labels"][std::string(kRestartAttempt)], "3");
  EXPECT_EQ(job["spec"]["template"]["metadata"]["annotations"][std::string(kRestartAttempt)], "3");
}

TEST(JobBuilder, AddsVolumesOfMountedClaims) {
  JobSetBuilder jobset = a_jobset("train").job("workers").set("/spec/volumeClaimPolicies", Json::parse(R"([
    {"templates": [{"metadata": {"name": "data"}}, {"metadata": {"name": "init"}}, {"metadata": {"name": "none"}}]}])"));
  jobset.of_pod("/spec/containers/0/volumeMounts", Json::parse(R"([{"name": "data", "mountPath": "/data"}])"));
  jobset.of_pod("/spec/initContainers", Json::parse(R"([{"name": "i", "volumeMounts": [{"name": "init"}]}])"));
  jobset.of_pod("/spec/volumes", Json::parse(R"([{"name": "mine", "emptyDir": {}}])"));
  EXPECT_EQ(pod_spec(built(jobset))["volumes"], Json::parse(R"([
    {"name": "mine", "emptyDir": {}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "data-train"}},
    {"name": "init", "persistentVolumeClaim": {"claimName": "init-train"}}])"));
}

TEST(JobBuilder, MutatesTheTemplateOfASlice) {
  const Json job = built(of_slices(), 0, 1);
  EXPECT_EQ(mutated_by(job), tpu::kMutatedByJobTemplate);
  const Json& metadata = job["spec"]["template"]["metadata"];
  EXPECT_EQ(string_at(metadata, {"annotations", tpu::kSliceHosts}), "4");
  EXPECT_FALSE(string_at(metadata, {"labels", tpu::kSlice}).empty());
  EXPECT_FALSE(metadata["annotations"].contains(std::string(tpu::kSliceHost))) << "it differs by pod";
  std::map<std::string, Json> env;
  for (const Json& variable : array_at(job, {"spec", "template", "spec", "containers", "0", "env"})) {
    env[string_at(variable, {"name"})] = variable;
  }
  EXPECT_EQ(string_at(env["TPU_WORKER_ID"], {"valueFrom", "fieldRef", "fieldPath"}),
            "metadata.annotations['batch.kubernetes.io/job-completion-index']");
  EXPECT_EQ(string_at(env["TPU_WORKER_HOSTNAMES"], {"value"}),
            "train-workers-1-0.train,train-workers-1-1.train,train-workers-1-2.train,train-workers-1-3.train");
  EXPECT_EQ(string_at(env["MEGASCALE_SLICE_ID"], {"value"}), "1");
  EXPECT_EQ(string_at(env["MEGASCALE_NUM_SLICES"], {"value"}), "2");
}

TEST(JobBuilder, DoesNotMutateTheTemplateIfAdmissionDoes) {
  const Json job = built(of_slices(), 0, 0, JobBuilder::PodTemplate::kUnmutated);
  EXPECT_EQ(mutated_by(job), "");
  EXPECT_FALSE(pod_spec(job)["containers"][0].contains("env"));
}

TEST(JobBuilder, DoesNotMutatePodsWithoutTpu) {
  const Json job = built(a_jobset("train").job("driver").hosts(2));
  EXPECT_EQ(mutated_by(job), "");
  EXPECT_EQ(job, built(a_jobset("train").job("driver").hosts(2), 0, 0, JobBuilder::PodTemplate::kUnmutated));
}

TEST(JobBuilder, StartsTheHostsOfAnExclusiveSliceTogether) {
  const Json job = built(of_slices().annotation(std::string(kJobSetTopologyKey), "cloud.google.com/gke-nodepool"));
  EXPECT_EQ(string_at(job, {"spec", "template", "metadata", "annotations", tpu::kSliceStart}), "together");
  EXPECT_EQ(string_at(job, {"spec", "template", "metadata", "annotations", kJobSetTopologyKey}),
            "cloud.google.com/gke-nodepool");
}

TEST(JobBuilder, ReturnsAnErrorForAContradictoryTemplate) {
  const Object object = of_slices().tpu(kV6e, "5x5x5").object();
  const Result<Json> job = JobBuilder(object, {}, {}).build(0, 0);
  EXPECT_THAT(job, IsError(ErrorCode::kInvalidArgument, HasSubstr("spec.replicatedJobs[0].template.spec.template")));
}

TEST(JobBuilder, IsDeterministic) { EXPECT_EQ(built(of_slices()).dump(), built(of_slices()).dump()); }

}  // namespace
}  // namespace tpuslice::jobset
