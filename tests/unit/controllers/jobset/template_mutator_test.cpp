#include "controllers/jobset/template_mutator.h"
#include "tests/support/admission.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/jobset/template_jobs.h"

namespace tpuslice::jobset {
namespace {

using testing::HasSubstr;
using tpu::testing::env_value;

constexpr const char* kIndexField = "metadata.annotations['batch.kubernetes.io/job-completion-index']";

Json mutated_template(Json job, const rules::MutationOptions& options = with_kinds()) {
  const auto mutated = mutate_job_template(job, options);
  EXPECT_TRUE(mutated.ok()) << mutated.error().message();
  EXPECT_TRUE(mutated.ok() && *mutated);
  return job["spec"]["template"];
}

/// Not mutated and unchanged.
void expect_unchanged(const Json& job, const char* why) {
  Json changed = job;
  const auto mutated = mutate_job_template(changed, with_kinds());
  ASSERT_TRUE(mutated.ok()) << why << ": " << mutated.error().message();
  EXPECT_FALSE(*mutated) << why;
  EXPECT_EQ(changed, job) << why;
}

TEST(MutateJobTemplate, GivesAllPodsOfAJobTheirIdentity) {
  const Json result = mutated_template(TemplateJob{}.json(), with_kinds({.gate = true}));
  EXPECT_EQ(env_value(result, "TPU_WORKER_ID"), kIndexField);
  EXPECT_EQ(env_value(result, "TPU_WORKER_HOSTNAMES"), "js-w-1-0.js,js-w-1-1.js,js-w-1-2.js,js-w-1-3.js");
  EXPECT_EQ(env_value(result, "TPU_NAME"), "js-w-1");
  EXPECT_EQ(env_value(result, "MEGASCALE_NUM_SLICES"), "2");
  EXPECT_EQ(env_value(result, "MEGASCALE_SLICE_ID"), "1");
  EXPECT_EQ(env_value(result, "MEGASCALE_COORDINATOR_ADDRESS"), "js-w-0-0.js");
  const Json& metadata = result["metadata"];
  EXPECT_THAT(metadata["labels"]["tpuslice.dev/slice"].get<std::string>(), HasSubstr("js-w-1-"));
  EXPECT_EQ(metadata["annotations"]["tpuslice.dev/slice-hosts"], "4");
  EXPECT_EQ(metadata["annotations"]["tpuslice.dev/topology-key"], "cloud.google.com/gke-nodepool");
  EXPECT_EQ(metadata["annotations"]["tpuslice.dev/mutated-by"], "job-template");
  EXPECT_FALSE(metadata["annotations"].contains("tpuslice.dev/slice-host"));
  EXPECT_FALSE(metadata["labels"].contains("tpuslice.dev/host")) << "which pod is host 0";
  EXPECT_TRUE(result["spec"]["affinity"].contains("podAntiAffinity"));
  EXPECT_EQ(result["spec"]["schedulingGates"], Json::array({Json{{"name", "tpuslice.dev/slice"}}}));
  EXPECT_EQ(result["spec"]["tolerations"][0]["key"], "google.com/tpu");
}

TEST(MutateJobTemplate, ReadsTheRequiredNodeAffinity) {
  const Json selected = TemplateJob{}.json();
  const Json selector = selected["spec"]["template"]["spec"]["nodeSelector"];
  Json job = selected;
  Json& pod = job["spec"]["template"]["spec"];
  pod.erase("nodeSelector");
  Json expressions = Json::array();
  for (const auto& [key, value] : selector.items()) {
    expressions.push_back({{"key", key}, {"operator", "In"}, {"values", Json::array({value})}});
  }
  pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::array({{{"matchExpressions", std::move(expressions)}}});
  const Json result = mutated_template(job);
  EXPECT_EQ(result["spec"]["nodeSelector"], selector);
  EXPECT_EQ(result["spec"]["containers"], mutated_template(selected)["spec"]["containers"]);
  EXPECT_EQ(result["metadata"], mutated_template(selected)["metadata"]);
}

TEST(MutateJobTemplate, OmitsWhatTheJobControllerAdds) {
  const Json bare = TemplateJob{}.json()["spec"]["template"];
  const Json result = mutated_template(TemplateJob{}.json());
  Json labels = result["metadata"]["labels"];
  labels.erase("tpuslice.dev/slice");
  EXPECT_EQ(labels, bare["metadata"]["labels"]);
  EXPECT_FALSE(result["metadata"].contains("namespace"));
  EXPECT_FALSE(result["metadata"]["annotations"].contains(kIndexKey));
  EXPECT_FALSE(result["spec"].contains("hostname"));
}

TEST(MutateJobTemplate, ChangesNothingTheSecondTime) {
  Json job = TemplateJob{}.json();
  ASSERT_TRUE(mutate_job_template(job, with_kinds({.gate = true})).value_or(false));
  const Json once = job;
  EXPECT_TRUE(mutate_job_template(job, with_kinds({.gate = true})).value_or(false));
  EXPECT_EQ(job, once);
}

TEST(MutateJobTemplate, KeepsAWorkerIdOfTheUser) {
  const Json env = Json::parse(R"([{"name": "TPU_WORKER_ID", "value": "0"}, {"name": "TPU_NAME", "value": "mine"}])");
  const Json result = mutated_template(TemplateJob{.shape = {.env = env}}.json());
  EXPECT_EQ(env_value(result, "TPU_WORKER_ID"), "0");
  EXPECT_EQ(env_value(result, "TPU_NAME"), "mine");
}

// The values that GKE writes are not the user's.
TEST(MutateJobTemplate, ReplacesAWorkerIdOfThePlatform) {
  const Json env = Json::parse(
      R"([{"name": "TPU_WORKER_ID", "value": "0"}, {"name": "TPU_WORKER_HOSTNAMES", "value": "localhost"}])");
  EXPECT_EQ(env_value(mutated_template(TemplateJob{.shape = {.env = env}}.json()), "TPU_WORKER_ID"), kIndexField);
}

TEST(MutateJobTemplate, SetsTheWorkerIdOfASingleHost) {
  const Json result = mutated_template(TemplateJob{.shape = {.topology = "2x4", .chips = {8}}, .pods = 1}.json());
  EXPECT_EQ(env_value(result, "TPU_WORKER_ID"), "0");
  EXPECT_EQ(env_value(result, "TPU_WORKER_HOSTNAMES"), "<absent>");
  EXPECT_EQ(result["metadata"]["annotations"]["tpuslice.dev/slice-hosts"], "1");
}

TEST(MutateJobTemplate, KeepsATemplateThatCannotExpressTheMutation) {
  expect_unchanged(TemplateJob{.shape = {.chips = {0}}}.json(), "no TPU");
  expect_unchanged(TemplateJob{.shape = {.topology = ""}}.json(), "the number of hosts is unknown");
  expect_unchanged(TemplateJob{.pods = 2}.json(), "half a slice");
  expect_unchanged(TemplateJob{.shape = {.topology = "2x4", .chips = {8}}}.json(), "each pod is a slice of its own");
  expect_unchanged(
      TemplateJob{.shape = {.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}}, .pods = 2}.json(),
      "two processes per host");
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> changes = {
      {"one after the other", [](Json& job) { job["spec"]["parallelism"] = 2; }},
      {"not indexed", [](Json& job) { job["spec"]["completionMode"] = "NonIndexed"; }},
      {"a selector of the user's", [](Json& job) { job["spec"]["manualSelector"] = true; }},
      {"a name that is not known yet", [](Json& job) { job["metadata"].erase("name"); }},
      {"no JobSet",
       [](Json& job) {
         job["spec"]["template"]["metadata"]["labels"] = {{"app", "x"}};
       }},
      {"no names for the hosts", [](Json& job) { job["spec"]["template"]["spec"].erase("subdomain"); }},
      {"no template", [](Json& job) { job["spec"].erase("template"); }},
      {"nothing", [](Json& job) { job = Json::object(); }},
  };
  for (const auto& [why, change] : changes) {
    Json job = TemplateJob{}.json();
    change(job);
    expect_unchanged(job, why);
  }
}

// Pods with the mark are not admitted, so it must say the truth.
TEST(MutateJobTemplate, RemovesAWrongMutatedByAnnotation) {
  const Json half = TemplateJob{.pods = 2}.json();
  Json marked = half;
  marked["spec"]["template"]["metadata"]["annotations"]["tpuslice.dev/mutated-by"] = "job-template";
  EXPECT_FALSE(mutate_job_template(marked, with_kinds()).value_or(true));
  EXPECT_EQ(marked, half);
}

TEST(MutateJobTemplate, RejectsWhatMutatePodRejects) {
  const auto refusal = [](Json job) {
    const Json before = job;
    const auto refused = mutate_job_template(job, with_kinds());
    EXPECT_EQ(job, before);
    return refused.ok() ? "" : refused.error().message();
  };
  EXPECT_THAT(refusal(TemplateJob{.pods = 5}.json()), HasSubstr("set parallelism and completions: 4"));
  Json job = TemplateJob{}.json();
  Json& result = job["spec"]["template"];
  result["metadata"]["labels"]["tpuslice.dev/slice"] = "mine";
  EXPECT_THAT(refusal(job), HasSubstr("metadata.labels[tpuslice.dev/slice]: Invalid value: \"mine\""));
  result = TemplateJob{}.json()["spec"]["template"];
  result["metadata"]["annotations"]["tpuslice.dev/slice-host"] = "0";
  EXPECT_THAT(refusal(job), HasSubstr("metadata.annotations[tpuslice.dev/slice-host]: Invalid value: \"0\""));
  result = TemplateJob{}.json()["spec"]["template"];
  result["metadata"]["annotations"] = "text";
  EXPECT_THAT(refusal(job), HasSubstr("malformed"));
}

}  // namespace
}  // namespace tpuslice::jobset
