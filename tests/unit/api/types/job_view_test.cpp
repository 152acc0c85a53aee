#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/views.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/api/types/sample_job.h"

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// The sample with one member changed.
Json job_with(const std::string& pointer, Json value) {
  Json job = parse_json(kSampleJob).value();
  job[Json::json_pointer(pointer)] = std::move(value);
  return job;
}

TEST(JobView, KeepsTheFieldsThatControllersRead) {
  const KeptKeys keep = {"tpuslice.dev/", "jobset.sigs.k8s.io/", "alpha.jobset.sigs.k8s.io/"};
  const JobView job = JobView::decode(kSampleJob, &keep).value();
  EXPECT_EQ(job.key.to_string(), "default/train-slice-1");
  EXPECT_EQ(job.uid, "7f0c9a54-0a4e-4a7e-8a52-36d4a86f8b21");
  EXPECT_EQ(job.resource_version, "815");
  EXPECT_EQ(job.generation, 3);
  EXPECT_EQ(job.created, parse_rfc3339("2026-01-01T00:00:05Z"));
  EXPECT_TRUE(job.deleting());
  EXPECT_EQ(job.label("jobset.sigs.k8s.io/restart-attempt"), "2");
  EXPECT_EQ(job.label("absent"), "");
  EXPECT_THAT(job.annotations,
              UnorderedElementsAre(Pair("alpha.jobset.sigs.k8s.io/exclusive-topology", "cloud.google.com/gke-nodepool"),
                                   Pair("jobset.sigs.k8s.io/job-index", "1"), Pair("tpuslice.dev/slice-hosts", "4")));
  EXPECT_EQ(job.controller, (ControllerRef{"jobset.x-k8s.io/v1alpha2", "JobSet", "train", "u1"}));
  EXPECT_EQ(job.parallelism, 4);
  EXPECT_EQ(job.completions, 8);
  EXPECT_TRUE(job.suspended);
}

TEST(JobView, KeepsStatus) {
  const JobView job = JobView::decode(kSampleJob).value();
  EXPECT_EQ(job.active, 1);
  EXPECT_EQ(job.ready, 2);
  EXPECT_EQ(job.succeeded, 3);
  EXPECT_EQ(job.failed, 4);
  EXPECT_EQ(job.terminating, 5);
  EXPECT_EQ(job.started, parse_rfc3339("2026-01-01T00:00:07Z"));
  ASSERT_THAT(job.conditions, SizeIs(2));
  EXPECT_EQ(job.conditions[0].type, "Suspended");
  EXPECT_EQ(job.conditions[1],
            (JobCondition{"FailureTarget", true, "PodFailurePolicy",
                          "Container worker for pod default/train-slice-1-0 failed with exit code 42",
                          parse_rfc3339("2026-01-01T00:10:00Z")}));
}

TEST(JobView, FindsOnlyTrueConditions) {
  const JobView job = JobView::decode(kSampleJob).value();
  EXPECT_EQ(job.condition("Complete"), nullptr);
  EXPECT_EQ(job.condition("Suspended"), nullptr) << "it is False";
  EXPECT_EQ(job.condition("AlphaCondition"), nullptr) << "only known types are kept";
  ASSERT_NE(job.condition("FailureTarget"), nullptr);
  EXPECT_EQ(job.condition("FailureTarget")->reason, "PodFailurePolicy");
}

TEST(JobView, KeepsMutableFieldsOfThePodTemplateWhileSuspended) {
  const JobView job = JobView::decode(kSampleJob).value();
  EXPECT_EQ(parse_json(job.pod_template).value(), parse_json(R"({
    "metadata": {"labels": {"jobset.sigs.k8s.io/jobset-name": "train", "app": "träin"},
                 "annotations": {"example.com/note": "[{]}\\\""}},
    "spec": {"nodeSelector": {"cloud.google.com/gke-tpu-topology": "4x4"},
             "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "tolerationSeconds": 30}],
             "schedulingGates": [{"name": "tpuslice.dev/slice"}],
             "containers": [{"name": "worker", "resources": {"limits": {"google.com/tpu": "4"}}}],
             "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t"}]}}}
  })")
                                                      .value());
}

TEST(JobView, KeepsResourcesOfContainersWhileSuspended) {
  const Json spec = Json::parse(R"({
    "containers": [{"name": "a", "image": "x", "env": [{"name": "b"}], "resources": {"limits": {"cpu": "1"}}},
                   {"name": "c", "resources": {}}],
    "initContainers": [{"name": "d"}]})");
  EXPECT_EQ(JobView::from_json(job_with("/spec/template", {{"spec", spec}}))->pod_template,
            R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}})");
}

TEST(JobView, DropsThePodTemplateOfAJobThatIsNotSuspended) {
  EXPECT_EQ(JobView::from_json(job_with("/spec/suspend", false))->pod_template, "");
}

std::string slice_of(const Result<JobView>& job) { return value_of(job->template_labels, "tpuslice.dev/slice"); }

TEST(JobView, ReadsTheLabelsOfItsPodTemplate) {
  const KeptKeys keep = {"jobset.sigs.k8s.io/"};
  EXPECT_THAT(JobView::decode(kSampleJob, &keep)->template_labels,
              ElementsAre(Pair("jobset.sigs.k8s.io/jobset-name", "train")));
  EXPECT_EQ(slice_of(JobView::decode(kSampleJob)), "");
  Json sliced = job_with("/spec/template/metadata/labels/tpuslice.dev~1slice", "train-slice-1");
  EXPECT_EQ(slice_of(JobView::from_json(sliced)), "train-slice-1");
  sliced["spec"]["suspend"] = false;
  EXPECT_EQ(slice_of(JobView::from_json(sliced)), "train-slice-1");
  EXPECT_EQ(slice_of(JobView::from_json(job_with("/metadata/labels/tpuslice.dev~1slice", "of the Job"))), "");
  EXPECT_EQ(slice_of(JobView::from_json(job_with("/spec/template/metadata/labels/tpuslice.dev~1slice", nullptr))), "");
  EXPECT_EQ(slice_of(JobView::from_json(job_with("/spec/template/metadata/labels", nullptr))), "");
}

TEST(JobView, OmitsAbsentFieldsOfThePodTemplate) {
  EXPECT_EQ(JobView::from_json(job_with("/spec/template", {{"spec", {{"containers", Json::array()}}}}))->pod_template,
            "{}");
  EXPECT_EQ(JobView::from_json(
                job_with("/spec/template", {{"metadata", nullptr}, {"spec", {{"nodeSelector", {{"a", "b"}}}}}}))
                ->pod_template,
            R"({"spec":{"nodeSelector":{"a":"b"}}})");
}

TEST(JobView, DoesNotDependOnMemberOrderOrWhiteSpace) {
  const JobView expected = JobView::decode(kSampleJob).value();
  EXPECT_EQ(JobView::from_json(parse_json(kSampleJob).value()).value(), expected);
  EXPECT_EQ(JobView::decode(nlohmann::ordered_json::parse(kSampleJob).dump(7)).value(), expected);
}

TEST(JobView, AppliesTheDefaultsOfTheApi) {
  const auto job = JobView::decode(
      R"({"metadata":{"name":"a","uid":"u","labels":null},"spec":{"completions":null,"suspend":null,"template":null},
          "status":{"conditions":null,"startTime":null}})");
  ASSERT_TRUE(job.ok()) << job.error().message();
  EXPECT_EQ(job->parallelism, 1);
  EXPECT_EQ(job->completions, std::nullopt);
  EXPECT_FALSE(job->suspended);
  EXPECT_FALSE(job->deleting());
  EXPECT_EQ(job->started, std::nullopt);
  EXPECT_THAT(job->conditions, IsEmpty());
}

TEST(JobView, RefusesInvalidInputWithAReason) {
  struct InvalidJob {
    const char* name;
    std::string text;
    const char* expected_error;
  };
  const std::vector<InvalidJob> cases = {
      {"empty", "", "job cannot be decoded"},
      {"array", "[]", "job cannot be decoded"},
      {"truncated", std::string(kSampleJob.substr(0, 500)), "job cannot be decoded"},
      {"trailing text", R"({"metadata":{"name":"a","uid":"u"}} {})", "job is followed by other text"},
      {"no name", R"({"metadata":{"uid":"u"}})", "job has no metadata.name"},
      {"no uid", R"({"metadata":{"name":"a","namespace":"n"}})", "job n/a has no metadata.uid"},
      {"suspend is text", R"({"spec":{"suspend":"yes"}})", ": .spec"},
      {"parallelism is text", R"({"spec":{"parallelism":"4"}})", ": .spec"},
      {"completions too many", R"({"spec":{"completions":3000000000}})", "completions 3000000000 is not an int32"},
      {"template is a list", R"({"spec":{"template":[]}})", ": .spec"},
      {"pod spec is text", R"({"spec":{"template":{"spec":"x"}}})", ": .spec"},
      {"active too many", R"({"status":{"active":-3000000000}})", "active -3000000000 is not an int32"},
      {"start is none", R"({"status":{"startTime":"now"}})", "\"now\" is not an RFC 3339 time"},
      {"conditions are an object", R"({"status":{"conditions":{}}})", ": .status"},
      {"condition is text", R"({"status":{"conditions":["Complete"]}})", ": .status"},
      {"deep", R"({"spec":{"template":)" + std::string(100'000, '[') + "}}", "job cannot be decoded"},
      {"bad selector while suspended",
       R"({"metadata":{"name":"a","uid":"u"},"spec":{"suspend":true,"template":{"spec":{"nodeSelector":{"a":tru}}}}})",
       ": .spec.template"},
  };
  for (const InvalidJob& invalid : cases) {
    const Result<JobView> job = JobView::decode(invalid.text);
    EXPECT_THAT(job, IsError(ErrorCode::kInvalidArgument, HasSubstr(invalid.expected_error))) << invalid.name;
  }
}

}  // namespace
}  // namespace tpuslice
