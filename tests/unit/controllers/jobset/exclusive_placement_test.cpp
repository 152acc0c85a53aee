#include "controllers/jobset/exclusive_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

constexpr const char* kPod = "/template/spec/template/metadata/annotations/alpha.jobset.sigs.k8s.io~1";
constexpr const char* kJob = "/template/metadata/annotations/alpha.jobset.sigs.k8s.io~1";

JobSetBuilder exclusive(const std::string& key = "rack") {
  return a_jobset("train").annotation(std::string(kJobSetTopologyKey), key).job("workers", 2).hosts(2);
}

Json template_of(const JobSetBuilder& jobset) {
  Result<Json> job = JobBuilder(jobset.object(), {}, {}).build(0, 0);
  EXPECT_TRUE(job.ok());
  return (*job)["spec"]["template"];
}

std::string key_of(const Json& pod) { return string_at(pod, {"metadata", "labels", kJobKey}); }

Json terms(const Json& pod, std::string_view kind) {
  return array_at(pod, {"spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"});
}

Json expression(const char* operation, const std::string& key) {
  return {{"key", "jobset.sigs.k8s.io/job-key"}, {"operator", operation}, {"values", {key}}};
}

TEST(ExclusivePlacement, AddsAffinityAndAntiAffinity) {
  const Json pod = template_of(exclusive());
  const auto term = [](Json expressions) {
    return Json{{"labelSelector", {{"matchExpressions", std::move(expressions)}}},
                {"topologyKey", "rack"},
                {"namespaceSelector", Json::object()}};
  };
  EXPECT_EQ(terms(pod, "podAffinity"), Json::array({term(Json::array({expression("In", key_of(pod))}))}));
  const Json exists = {{"key", "jobset.sigs.k8s.io/job-key"}, {"operator", "Exists"}};
  EXPECT_EQ(terms(pod, "podAntiAffinity"),
            Json::array({term(Json::array({exists, expression("NotIn", key_of(pod))}))}));
  EXPECT_FALSE(pod["spec"].contains("nodeSelector"));
}

TEST(ExclusivePlacement, IsNotAddedByDefault) {
  EXPECT_FALSE(template_of(a_jobset("train").job("workers"))["spec"].contains("affinity"));
}

TEST(ExclusivePlacement, AddsToTheUsersOwnAffinities) {
  const Json own = {{"topologyKey", "zone"}};
  JobSetBuilder jobset = exclusive();
  jobset.of_pod("/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution", Json::array({own}));
  jobset.of_pod("/spec/affinity/nodeAffinity", Json::object());
  const Json pod = template_of(jobset);
  ASSERT_EQ(terms(pod, "podAffinity").size(), 2U);
  EXPECT_EQ(terms(pod, "podAffinity")[0], own);
  EXPECT_TRUE(pod["spec"]["affinity"].contains("nodeAffinity"));
}

TEST(ExclusivePlacement, CanBeRequestedInThePodTemplate) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  EXPECT_EQ(terms(template_of(jobset.of_job(std::string(kPod) + "exclusive-topology", "rack")), "podAffinity").size(),
            1U);
}

TEST(ExclusivePlacement, IsNotAddedToMultiHostSlices) {
  JobSetBuilder jobset = exclusive("cloud.google.com/gke-nodepool");
  const Json pod = template_of(jobset.hosts(4).tpu(kV6e, "4x4"));
  EXPECT_EQ(terms(pod, "podAffinity").size(), 1U);
  EXPECT_EQ(terms(pod, "podAffinity").dump().find("job-key"), std::string::npos);
}

TEST(NodeSelectorStrategy, AddsANodeSelectorAndAToleration) {
  JobSetBuilder jobset = exclusive().annotation(std::string(kJobSetNodeSelector), "true");
  jobset.of_pod("/spec/tolerations", Json::parse(R"([{"operator": "Exists", "key": "mine"}])"));
  const Json pod = template_of(jobset);
  EXPECT_EQ(pod["spec"]["nodeSelector"],
            Json({{"alpha.jobset.sigs.k8s.io/namespaced-job", "default_train-workers-0"}}));
  EXPECT_EQ(pod["spec"]["tolerations"], Json::parse(R"([
    {"operator": "Exists", "key": "mine"},
    {"key": "alpha.jobset.sigs.k8s.io/no-schedule", "operator": "Exists", "effect": "NoSchedule"}])"));
  EXPECT_FALSE(pod["spec"].contains("affinity"));
}

TEST(NodeSelectorStrategy, CanBeRequestedByTheReplicatedJob) {
  JobSetBuilder jobset = exclusive();
  const Json pod = template_of(jobset.of_job(std::string(kJob) + "node-selector", "true"));
  EXPECT_EQ(string_at(pod, {"spec", "nodeSelector", kNamespacedJob}), "default_train-workers-0");
}

TEST(NodeSelectorStrategy, NeedsATopologyKey) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  EXPECT_FALSE(
      template_of(jobset.of_job(std::string(kJob) + "node-selector", "true"))["spec"].contains("nodeSelector"));
}

}  // namespace
}  // namespace tpuslice::jobset
