// Jobs in the API server: generated fields and immutable fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/cmd/tpu-slice-sim/test_server.h"

namespace tpuslice::sim {
namespace {

using ::testing::HasSubstr;

class JobSchema : public ::testing::Test {
 protected:
  static Json a_job(const Json& spec = Json::object()) {
    Json job =
        Json::parse(R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default"},
      "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}]}}}})");
    job["spec"].merge_patch(spec);
    return job;
  }
  Result<Object> create(const Json& job) {
    return server_.registry.create(*server_.registry.resources().find_id("jobs.batch"), Object(job));
  }
  std::string refused_change(const Json& spec, std::string_view subresource = {}) {
    const Json body = subresource.empty() ? Json{{"spec", spec}} : Json{{"status", spec}};
    const auto patched =
        server_.registry.patch(*server_.registry.resources().find_id("jobs.batch"), {"default", "j"}, subresource,
                               {.content_type = "application/merge-patch+json", .body = body});
    return patched.ok() ? "" : patched.error().message();
  }
  void write_status(const Json& status) { EXPECT_EQ(refused_change(status, "status"), ""); }

  TestServer server_;
};

TEST_F(JobSchema, GeneratesAUniqueSelector) {
  const Result<Object> created = create(a_job());
  ASSERT_TRUE(created.ok());
  const Json& job = created->json();
  const std::string uid = string_at(job, {"metadata", "uid"});
  EXPECT_EQ(job["spec"]["manualSelector"], false);
  EXPECT_EQ(job["spec"]["selector"], (Json{{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid}}}}));
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], (Json{{"batch.kubernetes.io/controller-uid", uid},
                                                                 {"batch.kubernetes.io/job-name", "j"},
                                                                 {"controller-uid", uid},
                                                                 {"job-name", "j"}}));
}

TEST_F(JobSchema, RefusesLabelsThatBelongToAnotherJob) {
  const auto created = create(a_job({{"template", {{"metadata", {{"labels", {{"job-name", "other"}}}}}}}}));
  EXPECT_THAT(created,
              IsError(ErrorCode::kInvalid, HasSubstr("spec.template.metadata.labels[job-name]: Invalid value")));
}

TEST_F(JobSchema, DefaultsTheStatusOfAConditionPatternToTrue) {
  const auto created = create(a_job(Json::parse(
      R"({"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}})")));
  ASSERT_TRUE(created.ok()) << created.error().message();
  EXPECT_EQ(created->json()["spec"]["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["status"], "True");
  EXPECT_EQ(created->json()["spec"]["podReplacementPolicy"], "Failed");
}

TEST_F(JobSchema, AllowsTemplateChangesBeforeTheJobStarts) {
  ASSERT_TRUE(create(a_job({{"suspend", true}})).ok());
  const Json placement = Json::parse(R"({"template": {
      "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
      "spec": {"nodeSelector": {"pool": "x"}, "tolerations": [{"operator": "Exists"}], "schedulingGates": [{"name": "g"}],
               "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                   {"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}}}}})");
  EXPECT_EQ(refused_change(placement), "");
  const Json others = Json::parse(R"({"template": {"spec": {"affinity": {"podAntiAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k", "labelSelector": {}}]}}}}})");
  EXPECT_THAT(refused_change(others), HasSubstr("field is immutable"));
  EXPECT_EQ(
      refused_change(Json::parse(
          R"({"template": {"spec": {"containers": [{"name": "main", "image": "a", "resources": {"limits": {"cpu": "2"}}}]}}})")),
      "");
  EXPECT_THAT(
      refused_change(Json::parse(R"({"template": {"spec": {"containers": [{"name": "main", "image": "b"}]}}})")),
      HasSubstr("spec.template.spec: Invalid value"));
  EXPECT_THAT(refused_change(Json::parse(R"({"template": {"metadata": {"labels": {"job-name": null}}}})")),
              HasSubstr("spec.template.metadata.labels[job-name]: Required value"));
}

TEST_F(JobSchema, RefusesTemplateChangesWhilePodsRun) {
  const Json moved = {{"template", {{"spec", {{"nodeSelector", {{"pool", "x"}}}}}}}};
  ASSERT_TRUE(create(a_job()).ok());
  EXPECT_THAT(refused_change(moved), HasSubstr("spec.template: Invalid value"));
  write_status({{"startTime", "2026-01-01T00:00:00Z"}, {"active", 1}});
  ASSERT_EQ(refused_change({{"suspend", true}}), "");
  EXPECT_THAT(refused_change(moved), HasSubstr("field is immutable")) << "its pods still exist";
  write_status(Json::parse(R"({"active": null, "conditions": [{"type": "Suspended", "status": "True"}]})"));
  EXPECT_EQ(refused_change(moved), "");
}

TEST_F(JobSchema, ChangesTheNumberOfIndexesOnlyWithTheParallelism) {
  ASSERT_TRUE(create(a_job({{"completionMode", "Indexed"}, {"completions", 2}, {"parallelism", 2}})).ok());
  EXPECT_THAT(refused_change({{"completions", 3}}),
              HasSubstr("spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"));
  EXPECT_EQ(refused_change({{"completions", 3}, {"parallelism", 3}}), "");
  EXPECT_EQ(refused_change({{"parallelism", 1}}), "");
}

TEST_F(JobSchema, RefusesChangesOfImmutableFields) {
  ASSERT_TRUE(create(a_job({{"completions", 2}})).ok());
  for (const char* change :
       {R"({"completions": 3})", R"({"completionMode": "Indexed"})", R"({"managedBy": "example.com/x"})",
        R"({"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "Failed"})"}) {
    EXPECT_THAT(refused_change(Json::parse(change)), HasSubstr("field is immutable")) << change;
  }
}

}  // namespace
}  // namespace tpuslice::sim
