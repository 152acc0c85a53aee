// For which pods the API server calls the webhook that deploy/ ships.

#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/admission/matching.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "controllers/jobset/template_mutator.h"
#include "tests/support/admission.h"
#include "tests/support/jobset/template_jobs.h"

namespace tpuslice::webhook {
namespace {

using jobset::TemplateJob;

constexpr const char* kJobController = "system:serviceaccount:kube-system:job-controller";
constexpr const char* kOperator = "system:serviceaccount:tpu-slice-system:tpu-slice-operator";

Json shipped_webhook(const std::string& name) {
  const auto documents = parse_yaml_documents(read_file("deploy/webhook/webhook.yaml").value());
  EXPECT_TRUE(documents.ok());
  if (!documents.ok()) return {};
  for (const YamlDocument& document : *documents) {
    for (const Json& webhook : array_at(document.value, {"webhooks"})) {
      if (string_at(webhook, {"name"}) == name) return webhook;
    }
  }
  ADD_FAILURE() << "no webhook " << name;
  return {};
}

class PodWebhook : public ::testing::Test {
 protected:
  PodWebhook() {
    const Json labels = {{"kubernetes.io/metadata.name", "default"}};
    const Json space = {{"metadata", {{"name", "default"}, {"labels", labels}}}};
    EXPECT_TRUE(storage_.create("namespaces", {"", "default"}, space).ok());
    for (sim::Resource& each : sim::builtin_resources()) {
      if (each.kind == "Pod") pods_ = std::move(each);
    }
  }

  bool called(const Json& pod, const std::string& user) { return called(webhook_, pod, user); }
  bool called_for_groups(const Json& pod, const std::string& user) { return called(group_webhook_, pod, user); }

  bool called(const Json& webhook, const Json& pod, const std::string& user) {
    sim::AdmissionRequest request;
    request.operation = "CREATE";
    request.resource = &pods_;
    request.key = {"default", "p"};
    request.object = pod;
    request.options.user.name = user;
    const auto matched = sim::matches({"c", nullptr, &webhook}, request, pod, storage_);
    EXPECT_TRUE(matched.ok()) << matched.error().message();
    return matched.value_or(true);
  }

  const Json webhook_ = shipped_webhook("pods.tpuslice.dev");
  const Json group_webhook_ = shipped_webhook("group-pods.tpuslice.dev");
  sim::Storage storage_;
  sim::Resource pods_;
};

TEST_F(PodWebhook, IsCalledForTpuPodsThatAreNotMutated) {
  const Json pod = jobset::pod_of(TemplateJob{}.json(), 0);
  EXPECT_TRUE(called(pod, "alice"));
  EXPECT_TRUE(called(pod, kJobController));
  EXPECT_FALSE(called(pod, kOperator));
  EXPECT_FALSE(called(jobset::pod_of(TemplateJob{.shape = {.chips = {0}}}.json(), 0), "alice"));
  const Json barest = Json::parse(R"({"metadata": {"generateName": "p-"}, "spec": {"containers":
      [{"name": "c", "resources": {"limits": {"google.com/tpu": "4"}}}]}})");
  EXPECT_TRUE(called(barest, kJobController)) << "neither labels nor annotations";
}

TEST_F(PodWebhook, IsCalledForAllPodsOfLeaderWorkerSets) {
  Json pod = tpu::testing::LwsPod{.shape = {.chips = {0}}}.json();
  const char* const user = "system:serviceaccount:kube-system:statefulset-controller";
  EXPECT_FALSE(called(pod, user)) << "it would be refused while the webhook is unavailable";
  EXPECT_TRUE(called_for_groups(pod, user));
  pod["metadata"]["labels"].erase("leaderworkerset.sigs.k8s.io/name");
  EXPECT_FALSE(called_for_groups(pod, user));
  const Json with_tpus = tpu::testing::LwsPod{}.json();
  EXPECT_TRUE(called(with_tpus, user));
  EXPECT_FALSE(called_for_groups(with_tpus, user)) << "each pod is sent once";
}

TEST_F(PodWebhook, IsNotCalledForPodsOfAMutatedTemplate) {
  Json job = TemplateJob{}.json();
  ASSERT_TRUE(jobset::mutate_job_template(job, with_kinds({.gate = true})).value_or(false));
  const Json templated = jobset::pod_of(job, 3);
  EXPECT_FALSE(called(templated, kJobController));
  for (const char* other : {"alice", "system:serviceaccount:default:job-controller", "system:kube-controller-manager",
                            "system:serviceaccount:kube-system:replicaset-controller"}) {
    EXPECT_TRUE(called(templated, other)) << other << " may have written all of it";
  }
  Json without_annotation = templated;
  without_annotation["metadata"]["annotations"].erase("tpuslice.dev/mutated-by");
  EXPECT_TRUE(called(without_annotation, kJobController));
  Json other_value = templated;
  other_value["metadata"]["annotations"]["tpuslice.dev/mutated-by"] = "elsewhere";
  EXPECT_TRUE(called(other_value, kJobController));
  Json unlabelled = templated;
  unlabelled["metadata"]["labels"].erase("tpuslice.dev/slice");
  EXPECT_TRUE(called(unlabelled, kJobController)) << "the placement controller would not see the nodes it uses";
}

TEST_F(PodWebhook, IsCalledForPodsOfATemplateThatCannotBeMutated) {
  const tpu::testing::PodShape split{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}};
  Json job = TemplateJob{.shape = split, .pods = 2}.json();
  job["spec"]["template"]["metadata"]["annotations"]["tpuslice.dev/mutated-by"] = "job-template";
  job["spec"]["template"]["metadata"]["labels"]["tpuslice.dev/slice"] =
      string_at(*rules::mutate_pod(jobset::pod_of(job, 0), with_kinds()), {"metadata", "labels", "tpuslice.dev/slice"});
  EXPECT_FALSE(called(jobset::pod_of(job, 0), kJobController)) << "as its user wrote it";
  ASSERT_FALSE(jobset::mutate_job_template(job, with_kinds()).value_or(true));
  EXPECT_TRUE(called(jobset::pod_of(job, 0), kJobController));
}

}  // namespace
}  // namespace tpuslice::webhook
