#include "webhook/admission_handler.h"
#include "tests/support/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/types/patch.h"
#include "tests/support/pods.h"
#include "tests/support/reviews.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::webhook {
namespace {

using rules::testing::tpu_cluster;
using rules::testing::with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::post;
using testing::review_of;
using tpu::testing::RayPod;

Json answer(const std::string& target, const Json& review) {
  const http::Response response = handle_admission(post(target, review), with_kinds({.served_kinds = {"RayCluster"}}));
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body)["response"];
}
Json mutate(const Json& pod) { return answer("/mutate-v1-pod?timeout=5s", review_of(pod, "", "Pod")); }
Json validate(const Json& cluster, const char* operation = "CREATE", const Json& old = nullptr) {
  return answer("/validate-ray-io-v1-raycluster", review_of(cluster, "ray.io", "RayCluster", operation, old));
}

TEST(MutatePodPath, PatchesThePodLikeMutatePod) {
  const Json pod = RayPod{.host = 2}.json();
  const Json response = mutate(pod);
  ASSERT_TRUE(response["allowed"].get<bool>());
  const auto patched = apply_json_patch(pod, Json::parse(*decode_base64(response["patch"].get<std::string>())));
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(*patched, *rules::mutate_pod(pod, with_kinds()));
  EXPECT_EQ(response["auditAnnotations"]["slice"], (*patched)["metadata"]["labels"]["tpuslice.dev/slice"]);
  EXPECT_FALSE(mutate(*patched).contains("patch")) << "a second admission changes nothing";
}

/// The pod as the API server stores it.
Json admitted(const Json& pod) {
  return apply_json_patch(pod, Json::parse(*decode_base64(mutate(pod)["patch"].get<std::string>()))).value();
}

TEST(MutatePodPath, IgnoresFieldsThatItDoesNotRead) {
  Json pod = RayPod{}.json();
  pod["metadata"]["managedFields"] = Json::array({{{"manager", "kubectl"}}});
  pod["spec"]["initContainers"] = Json::array({{{"name", "wait"}, {"image", "i"}, {"env", Json::array()}}});
  pod["spec"]["volumes"] = Json::array({{{"name", "v"}}});
  pod["spec"]["containers"][0]["command"] = {"ray", "start"};
  pod["spec"]["containers"][0]["env"] =
      Json::array({{{"name", "CPU"},
                    {"valueFrom", {{"resourceFieldRef", {{"containerName", "c0"}, {"resource", "limits.cpu"}}}}}}});
  EXPECT_EQ(admitted(pod), *rules::mutate_pod(pod, with_kinds()));
}

TEST(MutatePodPath, ReadsInitContainersOfPodsWithoutOtherTpus) {
  Json pod = RayPod{.chips = {0}}.json();
  pod["spec"]["initContainers"] = Json::parse(R"([{"name": "i", "resources": {"limits": {"google.com/tpu": "4"}}}])");
  EXPECT_EQ(admitted(pod)["metadata"]["labels"]["tpuslice.dev/slice"], "none");
}

TEST(MutatePodPath, MutatesInitContainersOfALeaderWorkerSet) {
  Json pod = tpu::testing::LwsPod{}.json();
  pod["spec"]["initContainers"] = pod["spec"]["containers"];
  const Json result = admitted(pod);
  EXPECT_EQ(tpu::testing::env_value(result, "TPU_WORKER_ID", 0, "initContainers"), "0");
  EXPECT_EQ(result, *rules::mutate_pod(pod, with_kinds()));
}

TEST(MutatePodPath, AddsTheStepsOfAServedKindToAllContainers) {
  const rules::MutationOptions options = with_kinds({.served_kinds = {"LeaderWorkerSet"}});
  Json pod = tpu::testing::LwsPod{.shape = {.accelerator = "", .topology = "", .chips = {0}}, .group = 1}.json();
  pod["spec"]["initContainers"] = Json::parse(R"([{"name": "i", "image": "i:1", "command": ["wait"]}])");
  const http::Response response =
      handle_admission(post(std::string(kMutatePodPath), review_of(pod, "", "Pod")), options);
  ASSERT_EQ(response.status, 200) << response.body;
  const Json patch = Json::parse(*decode_base64(Json::parse(response.body)["response"]["patch"].get<std::string>()));
  EXPECT_EQ(apply_json_patch(pod, patch).value_or(Json()), *rules::mutate_pod(pod, options));
}

TEST(MutatePodPath, TakesTheNamespaceFromTheRequestAndDoesNotSetIt) {
  Json pod = RayPod{}.json();
  const Json whole = *rules::mutate_pod(pod, with_kinds());
  pod["metadata"].erase("namespace");
  const auto patched = apply_json_patch(pod, Json::parse(*decode_base64(mutate(pod)["patch"].get<std::string>())));
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ((*patched)["metadata"]["labels"], whole["metadata"]["labels"]);
  EXPECT_FALSE((*patched)["metadata"].contains("namespace"));
}

TEST(MutatePodPath, RefusesAPodThatContradictsItself) {
  const Json response = mutate(RayPod{.host = 9}.json());
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"]["code"], 422);
  EXPECT_THAT(response["status"]["message"].get<std::string>(), HasSubstr("set numOfHosts: 4"));
}

TEST(MutatePodPath, AllowsOtherRequestsUnchanged) {
  const Json pod = RayPod{}.json();
  for (const Json& review : {review_of(pod, "", "Pod", "UPDATE", pod), review_of(pod, "apps", "Pod"),
                             review_of(pod, "", "Service"), review_of(Json::object(), "", "Pod")}) {
    EXPECT_EQ(answer("/mutate-v1-pod", review), Json({{"uid", "u-1"}, {"allowed", true}}));
  }
}

TEST(MutatePodPath, WarnsAboutARayWorkerWithoutIndexes) {
  Json pod = RayPod{}.json();
  pod["metadata"]["labels"].erase("ray.io/worker-group-replica-index");
  EXPECT_THAT(mutate(pod)["warnings"].get<std::vector<std::string>>(), ElementsAre(HasSubstr("RayMultiHostIndexing")));
}

TEST(ValidatePath, AllowsALegalCluster) {
  EXPECT_EQ(validate(tpu_cluster()), Json({{"uid", "u-1"}, {"allowed", true}}));
}

TEST(ValidatePath, RefusesWithAllErrors) {
  Json cluster = with(tpu_cluster(), "/spec/workerGroupSpecs/0/numOfHosts", 2);
  cluster["spec"]["networkPolicy"]["mode"] = "DenyAll";
  const Json response = validate(cluster);
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"]["code"], 422);
  const std::string message = response["status"]["message"].get<std::string>();
  EXPECT_THAT(message, HasSubstr("RayCluster.ray.io \"rc\" is invalid"));
  EXPECT_THAT(message, HasSubstr("set numOfHosts: 4"));
  EXPECT_THAT(message, HasSubstr("spec.networkPolicy: Forbidden: is not supported by tpu-slice-operator"));
  EXPECT_EQ(response["status"]["details"]["causes"].size(), 2U);
}

TEST(ValidatePath, IgnoresErrorsOfTheStoredObjectOnUpdates) {
  const Json wrong = with(tpu_cluster(), "/spec/workerGroupSpecs/0/numOfHosts", 2);
  EXPECT_EQ(validate(wrong, "UPDATE", tpu_cluster())["allowed"], false);
  const Json labelled = with(wrong, "/metadata/labels", Json({{"a", "b"}}));
  EXPECT_EQ(validate(labelled, "UPDATE", wrong)["allowed"], true);
  EXPECT_EQ(validate(with(labelled, "/spec/workerGroupSpecs/0/numOfHosts", 3), "UPDATE", wrong)["allowed"], false);
  EXPECT_EQ(validate(wrong, "DELETE")["allowed"], true);
}

TEST(ValidatePath, ReturnsWarnings) {
  const Json response = validate(with(tpu_cluster(), "/spec/workerGroupSpecs/0/replicas", 5));
  EXPECT_EQ(response["allowed"], true);
  EXPECT_EQ(response["warnings"].size(), 1U);
}

TEST(ValidatePath, WarnsAboutAnnotationsWithoutEffect) {
  const Json cluster = with(tpu_cluster(), "/spec/workerGroupSpecs/0/template/metadata/annotations",
                            Json({{"tpuslice.dev/slices-together", "two"}, {"tpuslice.dev/scale-up", "scouts"}}));
  const Json response = validate(cluster);
  EXPECT_EQ(response["allowed"], true);
  EXPECT_THAT(response["warnings"],
              ElementsAre(HasSubstr("slices-together]: value \"two\" has no effect: must be a number from 1 to 9216"),
                          HasSubstr("scale-up]: value \"scouts\" has no effect: supported values: \"auto\", ")));
}

TEST(HandleAdmission, AnswersOtherRequestsWithAStatus) {
  http::Request request = post("/mutate-v1-pod", Json::object());
  EXPECT_EQ(handle_admission(request, with_kinds()).status, 400);
  request.body = "{";
  EXPECT_EQ(handle_admission(request, with_kinds()).status, 400);
  request.body = std::string(kMaxReviewBytes + 1, ' ');
  EXPECT_EQ(handle_admission(request, with_kinds()).status, 413);
  request.method = "GET";
  EXPECT_EQ(handle_admission(request, with_kinds()).status, 405);
  request.target = "/";
  EXPECT_EQ(handle_admission(request, with_kinds()).status, 404);
}

TEST(HandleAdmission, RefusesPodsWithFieldsOfAnyType) {
  const Json pod = RayPod{}.json();
  const Json leaves = pod.flatten();
  for (const auto& [pointer, value] : leaves.items()) {
    for (const Json& odd : {Json(), Json(-1), Json("x"), Json::array({1}), Json({{"a", 1}})}) {
      for (Json::json_pointer at(pointer); !at.empty(); at.pop_back()) {
        Json broken = pod;
        broken[at] = odd;
        const int status = handle_admission(post("/mutate-v1-pod", review_of(broken, "", "Pod")), with_kinds()).status;
        EXPECT_TRUE(status == 200 || status == 400) << at.to_string();
      }
    }
  }
}

TEST(WorkloadPaths, ApplyTheRulesOfTheKind) {
  const Json jobset = {{"metadata", {{"name", "js"}}}, {"spec", {{"replicatedJobs", "x"}}}};
  const Json set = {{"metadata", {{"name", "lws"}}}, {"spec", {{"replicas", -1}}}};
  const Json jobset_answer =
      answer("/validate-jobset-x-k8s-io-v1alpha2-jobset", review_of(jobset, "jobset.x-k8s.io", "JobSet"));
  EXPECT_THAT(jobset_answer["status"]["message"].get<std::string>(), HasSubstr("spec.replicatedJobs"));
  const Json set_answer = answer("/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
                                 review_of(set, "leaderworkerset.x-k8s.io", "LeaderWorkerSet"));
  EXPECT_THAT(set_answer["status"]["message"].get<std::string>(), HasSubstr("spec.replicas"));
  EXPECT_EQ(handle_admission(post("/validate", set), with_kinds()).status, 404);
}

TEST(WorkloadPaths, RefuseUnsupportedFieldsOfServedKindsOnly) {
  const Json cluster = with(tpu_cluster(), "/spec/networkPolicy/mode", "DenyAll");
  const auto allowed = [&](const rules::MutationOptions& options) {
    const http::Request request =
        post("/validate-ray-io-v1-raycluster", review_of(cluster, "ray.io", "RayCluster", "CREATE"));
    return Json::parse(handle_admission(request, options).body)["response"]["allowed"].get<bool>();
  };
  EXPECT_FALSE(allowed(with_kinds({.served_kinds = {"RayCluster"}})));
  EXPECT_TRUE(allowed(with_kinds()));
}

TEST(MutatePodPath, WarnsAboutAHostWithoutIndex) {
  Json pod = tpu::testing::pod_of({}, "alone");
  EXPECT_THAT(mutate(pod)["warnings"], ElementsAre(HasSubstr("one of 4 hosts of a slice")));
  pod["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] = "2x2";
  EXPECT_FALSE(mutate(pod).contains("warnings"));
  pod = RayPod{}.json();
  pod["spec"]["hostNetwork"] = true;
  EXPECT_THAT(mutate(pod)["warnings"], ElementsAre(HasSubstr("ClusterFirstWithHostNet")));
}

TEST(WorkloadPaths, ReplyShortlyWhateverTheReviewContains) {
  Json review = review_of({{"metadata", {{"name", "a"}}}, {"spec", {{"workerGroupSpecs", 1}}}}, "ray.io", "RayCluster");
  review["request"]["name"] = std::string(3'000'000, 'n');
  AdmissionRecord record;
  const http::Response response =
      handle_admission(post("/validate-ray-io-v1-raycluster", review), with_kinds(), &record);
  EXPECT_EQ(response.status, 200);
  EXPECT_LT(response.body.size(), 8192U);
  const Json answer = Json::parse(response.body)["response"];
  EXPECT_FALSE(answer["allowed"].get<bool>());
  EXPECT_FALSE(record.allowed);
  EXPECT_EQ(record.message, answer["status"]["message"].get<std::string>());
}

}  // namespace
}  // namespace tpuslice::webhook
