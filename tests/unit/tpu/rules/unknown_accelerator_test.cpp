// Workloads and pods of an accelerator that the catalog does not know are accepted with a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/admission.h"
#include "tests/support/pods.h"
#include "tests/unit/tpu/rules/jobsets.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"
#include "tpu/labels.h"
#include "tpu/rules/pod_mutator.h"
#include "tpu/rules/pod_warnings.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using tpu::testing::JobPod;
using tpu::testing::LwsPod;
using tpu::testing::RayPod;

constexpr const char* kUnknown = "tpu-v9-slice";

/// Replaces every accelerator in the object by `accelerator`.
Json with_accelerator(Json json, const char* accelerator = kUnknown) {
  if (!json.is_structured()) return json;
  for (Json& child : json) child = with_accelerator(std::move(child), accelerator);
  const std::string label(tpu::kAcceleratorLabel);
  if (json.is_object() && json.contains(label)) json[label] = accelerator;
  return json;
}

/// Errors of the validator of the object's kind.
std::string validation_errors(const Json& object) {
  for (const WorkloadKind* kind : admission_kinds()) {
    if (kind->kind == string_at(object, {"kind"})) return to_message(kind->validate(object, nullptr));
  }
  return "unknown kind";
}

TEST(UnknownAccelerator, IsAcceptedInObjectsOfAllKinds) {
  for (const Json& object : {testing::tpu_cluster(), testing::tpu_rayjob(), testing::tpu_rayservice(),
                             testing::tpu_jobset(), testing::serving_set(), testing::disaggregated_set()}) {
    EXPECT_EQ(validation_errors(with_accelerator(object)), "") << object["kind"];
    EXPECT_FALSE(warn_unknown_accelerators(with_accelerator(object)).empty()) << object["kind"];
    EXPECT_THAT(warn_unknown_accelerators(object), IsEmpty()) << object["kind"];
  }
}

TEST(UnknownAccelerator, DoesNotHideErrorsOfKubernetes) {
  Json cluster = with_accelerator(testing::tpu_cluster());
  Json& container = cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0];
  container["resources"].erase("limits");
  EXPECT_THAT(validation_errors(cluster), ::testing::HasSubstr("limits[google.com/tpu]: Required value"));
}

TEST(UnknownAccelerator, NeedsNoKnownTopologyAndNoNumberOfHosts) {
  Json cluster = with_accelerator(testing::tpu_cluster());
  Json& group = cluster["spec"]["workerGroupSpecs"][0];
  group["numOfHosts"] = 3;
  group["template"]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] = "2x2x2x2";
  EXPECT_EQ(validation_errors(cluster), "");
  Json set = with_accelerator(testing::group_of(testing::Leader::kWithTpus, "4x4", 5, 2));
  set["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]["resources"]["limits"] = {
      {"google.com/tpu", "8"}};
  EXPECT_EQ(validation_errors(set), "");
}

constexpr const char* kKnown =
    "the accelerators that tpu-slice-operator knows are tpu-v3-device, tpu-v3-slice, tpu-v4-lite-device, "
    "tpu-v4-podslice, tpu-v5-lite-device, tpu-v5-lite-podslice, tpu-v5p-slice, tpu-v6e-slice, tpu7, tpu7x";

TEST(UnknownAccelerator, IsNamedWithItsPathAndTheKnownOnes) {
  EXPECT_THAT(warn_unknown_accelerators(with_accelerator(testing::tpu_rayjob())),
              ElementsAre("spec.rayClusterSpec.workerGroupSpecs[0].template.spec.nodeSelector[cloud.google.com/"
                          "gke-tpu-accelerator]: accelerator \"tpu-v9-slice\" is unknown to tpu-slice-operator, which "
                          "leaves these pods to the scheduler",
                          kKnown));
  EXPECT_THAT(warn_unknown_accelerators(with_accelerator(testing::tpu_jobset())),
              ElementsAre(StartsWith("spec.replicatedJobs[1].template.spec.template.spec.nodeSelector["), kKnown));
  EXPECT_THAT(warn_unknown_accelerators(with_accelerator(testing::serving_set())),
              ElementsAre(StartsWith("spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector["), kKnown))
      << "the leader asks for no TPUs";
  Json pod = RayPod{.accelerator = kUnknown}.json();
  EXPECT_THAT(review_pod(pod, with_kinds()).value().warnings, ElementsAre(StartsWith("spec.nodeSelector["), kKnown));
  Json without_tpus = RayPod{.accelerator = kUnknown, .chips = {0}}.json();
  EXPECT_THAT(review_pod(without_tpus, with_kinds()).value().warnings, IsEmpty());
}

TEST(UnknownAccelerator, IsComparedWithTheKnownOnes) {
  const auto suggestion = [](const char* accelerator) {
    const auto warnings = warn_unknown_accelerators(with_accelerator(testing::tpu_cluster(), accelerator));
    return warnings.size() == 3 ? warnings[1] : "";
  };
  EXPECT_EQ(suggestion("tpu-v6e-podslice"), "did you mean tpu-v6e-slice?");
  EXPECT_EQ(suggestion("v6e"), "did you mean tpu-v6e-slice?");
  EXPECT_EQ(suggestion("tpu-v5litepod-slice"), "did you mean tpu-v5-lite-podslice?");
  EXPECT_EQ(suggestion("tpu-v7x-slice"), "") << "too different";
  for (const char* label : {"tpu-v5e-slice", "v5e", "tpu-v5e", "tpu-v5-lite", "tpu-v5lite", "tpu-v5-lite-slice"}) {
    EXPECT_EQ(suggestion(label), "did you mean tpu-v5-lite-podslice?") << label;
  }
  EXPECT_EQ(suggestion("tpu-v5-lite-dev"), "did you mean tpu-v5-lite-device?");
  for (const char* label : {"v5p", "tpu-v5p", "tpu-v5p-podslice", "tpu-v5-slice"}) {
    EXPECT_EQ(suggestion(label), "did you mean tpu-v5p-slice?") << label;
  }
  EXPECT_EQ(suggestion(kUnknown), "") << "another generation";
}

TEST(TpuSelector, WithoutRequestIsNamedWithItsPath) {
  Json cluster = testing::tpu_cluster();
  EXPECT_THAT(warn_missing_tpu_requests(cluster), IsEmpty());
  Json& pod = cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"];
  pod["containers"][0]["resources"] = {{"limits", {{"cpu", "1"}}}};
  EXPECT_THAT(warn_missing_tpu_requests(cluster),
              ElementsAre("spec.workerGroupSpecs[0].template.spec.nodeSelector[cloud.google.com/gke-tpu-accelerator]: "
                          "selects nodes of tpu-v6e-slice, but no container requests google.com/tpu: the pods do not "
                          "tolerate their taint"));
  Json tolerant = cluster;
  tolerant["spec"]["workerGroupSpecs"][0]["template"]["spec"]["tolerations"] =
      Json::array({{{"key", "google.com/tpu"}, {"operator", "Exists"}}});
  EXPECT_THAT(warn_missing_tpu_requests(tolerant), IsEmpty()) << "an agent that runs on nodes with TPUs";
  pod["resourceClaims"] = Json::array({{{"name", "chips"}}});
  EXPECT_THAT(warn_missing_tpu_requests(cluster), IsEmpty());
}

TEST(UnknownAccelerator, IsNamedAFewTimesOnly) {
  Json cluster = with_accelerator(testing::tpu_rayjob(), std::string(1000, 'x').c_str());
  Json& groups = cluster["spec"]["rayClusterSpec"]["workerGroupSpecs"];
  while (groups.size() < 100) groups.push_back(groups[0]);
  const auto warnings = warn_unknown_accelerators(cluster);
  EXPECT_EQ(warnings.size(), 5U);
  for (const std::string& warning : warnings) EXPECT_LE(warning.size(), 256U) << warning;
}

// Its nodes are used all the same.
TEST(UnknownAccelerator, OnlyLabelsPods) {
  const tpu::testing::PodShape shape{.accelerator = kUnknown};
  for (Json pod : {RayPod{.accelerator = kUnknown}.json(), JobPod{.shape = shape}.json(),
                   JobPod{.shape = shape, .job_set = "js", .replicated_job = "w"}.json()}) {
    const Json result = *mutate_pod(pod, with_kinds({.gate = true}));
    pod["metadata"]["labels"]["tpuslice.dev/slice"] = "none";
    EXPECT_EQ(result, pod);
  }
}

// Upstream's webhook, which ours replaces, numbers them by the size of their group.
TEST(UnknownAccelerator, LeavesPodsOfALeaderWorkerSetToTheScheduler) {
  const Json result =
      *mutate_pod(LwsPod{.shape = {.accelerator = kUnknown}, .worker = 2}.json(), with_kinds({.gate = true}));
  EXPECT_EQ(tpu::testing::env_value(result, "TPU_WORKER_ID"), "2");
  EXPECT_FALSE(result["spec"].contains("schedulingGates"));
  EXPECT_FALSE(result["spec"].contains("affinity"));
  EXPECT_EQ(*mutate_pod(result, with_kinds({.gate = true})), result);
}

TEST(UnknownAccelerator, KeepsTheExclusiveTopologyOfALeaderWorkerSet) {
  Json pod = LwsPod{.shape = {.accelerator = kUnknown}}.json();
  pod["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/exclusive-topology"] = "cloud.google.com/gke-nodepool";
  const Json result = *mutate_pod(pod, with_kinds({.gate = true}));
  EXPECT_FALSE(result["spec"].contains("schedulingGates"));
  EXPECT_TRUE(result["spec"]["affinity"].contains("podAntiAffinity"));
  EXPECT_EQ(*mutate_pod(result, with_kinds({.gate = true})), result);
}

}  // namespace
}  // namespace tpuslice::rules
