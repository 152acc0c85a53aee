// Gates and topology keys of pods whose scheduling is not that of one slice for each node pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/admission.h"
#include "tests/support/pods.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::rules {
namespace {

using ::testing::HasSubstr;
using tpu::testing::env_value;
using tpu::testing::JobPod;
using tpu::testing::LwsPod;
using tpu::testing::RayPod;
using tpu::testing::StatefulSetPod;

const MutationOptions kGating = with_kinds({.gate = true});
const MutationOptions kNodePoolsOnly = with_kinds({.topology_keys = {"cloud.google.com/gke-nodepool"}, .gate = true});

/// Checks that a second admission changes nothing.
Json admitted(const Json& pod, const MutationOptions& options = kGating) {
  const auto once = mutate_pod(pod, options);
  if (!once) {
    ADD_FAILURE() << once.error().message();
    return {};
  }
  EXPECT_EQ(mutate_pod(*once, options).value_or(Json()), *once);
  return *once;
}

bool is_gated(const Json& pod) { return pod["spec"].contains("schedulingGates"); }

std::string topology_key(const Json& pod) {
  const std::string key = string_at(pod, {"metadata", "annotations", "tpuslice.dev/topology-key"});
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    EXPECT_EQ(pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"][0]["topologyKey"], key);
  }
  return key;
}

TEST(StatefulSetPods, MayStartHostByHost) {
  const auto start = [](const Json& pod) {
    return string_at(admitted(pod), {"metadata", "annotations", "tpuslice.dev/slice-start"});
  };
  EXPECT_EQ(start(StatefulSetPod{.ordinal = 2}.json()), "host-by-host");
  EXPECT_EQ(start(StatefulSetPod{.shape = {.topology = "2x2"}}.json()), "");
  EXPECT_EQ(start(JobPod{}.json()), "");
  EXPECT_EQ(start(LwsPod{}.json()), "host-0-if-alone") << "although a StatefulSet controls it";
}

TEST(PodsOfAnotherScheduler, GetTheirIdentityButNoGate) {
  Json pod = RayPod{.host = 2}.json();
  pod["spec"]["schedulerName"] = "volcano";
  const Json result = admitted(pod);
  EXPECT_FALSE(is_gated(result));
  EXPECT_EQ(env_value(result, "TPU_WORKER_ID"), "2");
  EXPECT_EQ(topology_key(result), "cloud.google.com/gke-nodepool");
  EXPECT_THAT(string_at(result, {"metadata", "labels", "tpuslice.dev/slice"}), HasSubstr("g-0-"));
  EXPECT_EQ(result["spec"]["schedulerName"], "volcano");
  for (const char* ours : {"", "default-scheduler"}) {
    pod["spec"]["schedulerName"] = ours;
    EXPECT_TRUE(is_gated(admitted(pod))) << ours;
  }
}

// The gang scheduling of kube-scheduler counts the pods of a group and starts them together.
TEST(PodsOfASchedulingGroup, AreNotGated) {
  Json pod = JobPod{.index = 1}.json();
  pod["spec"]["schedulingGroup"] = {{"podGroupName", "train"}};
  EXPECT_FALSE(is_gated(admitted(pod)));
  EXPECT_EQ(env_value(admitted(pod), "TPU_WORKER_ID"), "1");
  pod["spec"]["schedulingGroup"] = nullptr;
  EXPECT_TRUE(is_gated(admitted(pod)));
  pod["spec"]["workloadRef"] = {{"name", "train"}, {"podGroup", "workers"}};
  EXPECT_FALSE(is_gated(admitted(pod)));
}

TEST(PodsWithResourceClaims, AreGatedAndKeepTheirClaims) {
  const Json claims = Json::parse(R"([{"name": "netdev", "resourceClaimTemplateName": "all-netdev"}])");
  Json pod = RayPod{.host = 1}.json();
  pod["spec"]["resourceClaims"] = claims;
  pod["spec"]["hostNetwork"] = true;
  pod["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet";
  Json& resources = pod["spec"]["containers"][0]["resources"];
  resources["claims"] = Json::parse(R"([{"name": "netdev"}])");
  const Json expected = resources;
  const Json result = admitted(pod);
  EXPECT_TRUE(is_gated(result));
  EXPECT_EQ(env_value(result, "TPU_WORKER_ID"), "1");
  EXPECT_EQ(result["spec"]["resourceClaims"], claims);
  EXPECT_EQ(result["spec"]["containers"][0]["resources"], expected);
  EXPECT_EQ(result["spec"]["hostNetwork"], true);
  EXPECT_TRUE(review_pod(pod, with_kinds()).value().warnings.empty());
}

TEST(SubSlicePods, UseTheLabelOfTheirShape) {
  Json pod = RayPod{.topology = "16x16"}.json();
  pod["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = "4x4";
  const Json result = admitted(pod, kNodePoolsOnly);
  EXPECT_EQ(topology_key(result), "cloud.google.com/gke-tpu-slice-4x4-id");
  EXPECT_EQ(result["metadata"]["annotations"]["tpuslice.dev/slice-hosts"], "4");
  EXPECT_TRUE(is_gated(result));
  EXPECT_EQ(env_value(admitted(pod, with_kinds({.device_env = true})), "TPU_TOPOLOGY"), "4x4");
}

TEST(DynamicSlicePods, UseTheLabelWithTheNameOfTheSlice) {
  Json pod = JobPod{.shape = {.accelerator = "tpu7x", .topology = "4x4x4"}}.json();
  pod["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = "4x4x4";
  EXPECT_EQ(topology_key(admitted(pod, kNodePoolsOnly)), "cloud.google.com/gke-nodepool");
  pod["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-slice"] = "slice-a";
  EXPECT_EQ(topology_key(admitted(pod, kNodePoolsOnly)), "cloud.google.com/gke-tpu-slice");
}

TEST(TopologyKey, OfTheUserComesBeforeThatOfASubSlice) {
  Json pod = JobPod{.shape = {.topology = "16x16"}, .job_set = "js", .replicated_job = "w"}.json();
  Json& annotations = pod["metadata"]["annotations"];
  annotations["cloud.google.com/gke-tpu-slice-topology"] = "4x4";
  annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "cloud.google.com/gke-tpu-slice";
  EXPECT_EQ(topology_key(admitted(pod, kNodePoolsOnly)), "cloud.google.com/gke-tpu-slice");
  annotations["tpuslice.dev/topology-key"] = "cloud.google.com/gke-nodepool";
  EXPECT_EQ(topology_key(admitted(pod, kNodePoolsOnly)), "cloud.google.com/gke-nodepool");
}

TEST(TopologyKey, MayBeALabelOfGkeButNoOther) {
  Json pod = RayPod{}.json();
  const auto error_with = [&](const char* name) -> std::string {
    pod["metadata"]["annotations"]["tpuslice.dev/topology-key"] = name;
    const auto result = mutate_pod(pod, kNodePoolsOnly);
    return result.ok() ? "" : result.error().message();
  };
  EXPECT_EQ(error_with("cloud.google.com/gke-tpu-slice"), "");
  EXPECT_EQ(error_with("cloud.google.com/gke-tpu-slice-4x4-id"), "");
  EXPECT_EQ(error_with("cloud.google.com/gke-tpu-partition-4x4x4-id"), "");
  EXPECT_THAT(error_with("topology.kubernetes.io/zone"),
              HasSubstr("metadata.annotations[tpuslice.dev/topology-key]: Unsupported value: "
                        "\"topology.kubernetes.io/zone\": supported values: \"cloud.google.com/gke-nodepool\""));
}

TEST(SingleHostReplicas, GetMegascaleVariablesOnlyIfTheyDeclareThem) {
  JobPod pod{.shape = {.topology = "2x2"}, .subdomain = "js", .job_set = "js", .replicated_job = "w", .replicas = 4};
  pod.job_index = 2;
  const Json independent = admitted(pod.json());
  for (const char* name : {"MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "MEGASCALE_COORDINATOR_ADDRESS"}) {
    EXPECT_EQ(env_value(independent, name), "<absent>") << name;
  }
  pod.shape.env = Json::array({Json{{"name", "MEGASCALE_NUM_SLICES"}, {"value", "4"}}});
  const Json multislice = admitted(pod.json());
  EXPECT_EQ(env_value(multislice, "MEGASCALE_NUM_SLICES"), "4");
  EXPECT_EQ(env_value(multislice, "MEGASCALE_SLICE_ID"), "2");
  EXPECT_EQ(env_value(multislice, "MEGASCALE_COORDINATOR_ADDRESS"), "js-w-0-0.js");
  pod.shape = {};
  EXPECT_EQ(env_value(admitted(pod.json()), "MEGASCALE_NUM_SLICES"), "4") << "slices of several hosts";
}

}  // namespace
}  // namespace tpuslice::rules
