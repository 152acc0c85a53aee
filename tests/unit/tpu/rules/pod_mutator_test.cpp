#include "tpu/rules/pod_mutator.h"
#include "tests/support/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/patch.h"
#include "tests/support/pods.h"

namespace tpuslice::rules {
namespace {

using ::testing::HasSubstr;
using tpu::testing::env_value;
using tpu::testing::RayPod;

/// In both ways.
Json mutated(const Json& pod, const MutationOptions& options = with_kinds()) {
  const auto result = mutate_pod(pod, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  Json changed = pod;
  const auto review = review_pod(changed, options);
  EXPECT_TRUE(review.ok() && changed == *result && apply_json_patch(pod, review->patch).value_or(Json()) == *result);
  return result.value_or(Json());
}
std::string error_of(const Json& pod) {
  const auto result = mutate_pod(pod, with_kinds());
  return result.ok() ? "" : result.error().message();
}
Json entry(const char* name, const char* value) { return {{"name", name}, {"value", value}}; }

TEST(MutatePod, AddsAWorkerToItsSlice) {
  const Json pod = mutated(RayPod{.replica = 1, .host = 2}.json());
  EXPECT_EQ(pod["spec"]["hostname"], "g-1-2");
  EXPECT_EQ(pod["spec"]["subdomain"], "rc-headless");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "2");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES"), "<absent>");
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/slice-hosts"], "4");
  const Json& term = pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  EXPECT_EQ(term["topologyKey"], "cloud.google.com/gke-nodepool");
  EXPECT_EQ(term["labelSelector"]["matchExpressions"][0]["values"][0], pod["metadata"]["labels"]["tpuslice.dev/slice"]);
  EXPECT_EQ(pod["spec"]["tolerations"][0]["key"], "google.com/tpu");
}

TEST(MutatePod, MarksHostZero) {
  const auto host_label = [](const RayPod& pod) {
    return string_at(mutated(pod.json()), {"metadata", "labels", "tpuslice.dev/host"});
  };
  EXPECT_EQ(host_label({.replica = 1, .host = 0}), "0");
  EXPECT_EQ(host_label({.replica = 1, .host = 2}), "");
}

// A client that selects it reads one pod of each slice.
TEST(MutatePod, ErasesTheMarkOfHostZeroFromOtherHosts) {
  Json pod = RayPod{.replica = 1, .host = 2}.json();
  pod["metadata"]["labels"]["tpuslice.dev/host"] = "0";
  EXPECT_FALSE(mutated(pod)["metadata"]["labels"].contains("tpuslice.dev/host"));
  Json first = RayPod{.replica = 1, .host = 0}.json();
  first["metadata"]["labels"]["tpuslice.dev/host"] = "0";
  EXPECT_EQ(mutated(first)["metadata"]["labels"]["tpuslice.dev/host"], "0");
}

TEST(MutatePod, SelectsTheNodesThatTheAffinityDemands) {
  Json pod = RayPod{.replica = 1, .host = 2}.json();
  const Json selector = pod["spec"]["nodeSelector"];
  const auto demand = [](const std::string& key, const Json& value) {
    return Json{{"key", key}, {"operator", "In"}, {"values", Json::array({value})}};
  };
  Json expressions = Json::array();
  for (const auto& [key, value] : selector.items()) expressions.push_back(demand(key, value));
  pod["spec"].erase("nodeSelector");
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::array({{{"matchExpressions", expressions}}});
  const Json out = mutated(pod);
  EXPECT_EQ(out["spec"]["nodeSelector"], selector);
  EXPECT_EQ(env_value(out, "TPU_WORKER_ID"), "2");
}

TEST(MutatePod, KeepsOtherPods) {
  const Json cpu = RayPod{.chips = {0}}.json();
  EXPECT_EQ(mutated(cpu), cpu);
}

TEST(MutatePod, OnlyLabelsAPodWhoseInitContainersHaveTheTpus) {
  Json init = RayPod{.chips = {0}}.json();
  init["spec"]["initContainers"] = Json::parse(R"([{"name": "i", "resources": {"limits": {"google.com/tpu": "4"}}}])");
  Json marked = init;
  marked["metadata"]["labels"]["tpuslice.dev/slice"] = "none";
  EXPECT_EQ(mutated(init), marked);
}

// The placement controller must know who else takes chips.
TEST(MutatePod, OnlyLabelsATpuPodWithoutIndex) {
  Json other = RayPod{}.json();
  other["metadata"]["labels"] = {{"app", "x"}};
  Json marked = other;
  marked["metadata"]["labels"]["tpuslice.dev/slice"] = "none";
  EXPECT_EQ(mutated(other, with_kinds({.gate = true})), marked);
  other.erase("metadata");
  EXPECT_EQ(mutated(other), other) << "no API server sends it";
}

TEST(MutatePod, GatesAHostOfAMultiHostSlice) {
  const MutationOptions gated = with_kinds({.gate = true});
  const Json gate = {{"name", "tpuslice.dev/slice"}};
  const Json pod = mutated(RayPod{.host = 2}.json(), gated);
  EXPECT_EQ(pod["spec"]["schedulingGates"], Json::array({gate}));
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/slice-host"], "2");
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/topology-key"], "cloud.google.com/gke-nodepool");
  EXPECT_EQ(mutated(pod, gated), pod);
  EXPECT_FALSE(mutated(RayPod{}.json())["spec"].contains("schedulingGates")) << "no controller would remove it";
}

TEST(MutatePod, AddsTheGateToOthersButNotToBoundOrUngatedPods) {
  const MutationOptions gated = with_kinds({.gate = true});
  Json kueue = RayPod{}.json();
  kueue["spec"]["schedulingGates"] = Json::array({Json{{"name", "kueue.x-k8s.io/admission"}}});
  EXPECT_EQ(mutated(kueue, gated)["spec"]["schedulingGates"].size(), 2U);
  Json bound = RayPod{}.json();
  bound["spec"]["nodeName"] = "n";
  EXPECT_FALSE(mutated(bound, gated)["spec"].contains("schedulingGates"));
  Json off = RayPod{}.json();
  off["metadata"]["annotations"]["tpuslice.dev/gating"] = "off";
  EXPECT_FALSE(mutated(off, gated)["spec"].contains("schedulingGates"));
  off["metadata"]["annotations"]["tpuslice.dev/gating"] = "no";
  EXPECT_THAT(mutate_pod(off, gated).error().message(),
              HasSubstr("metadata.annotations[tpuslice.dev/gating]: Invalid value: \"no\": must be \"on\" or \"off\""));
  const Json single = mutated(RayPod{.topology = "2x4", .chips = {8}}.json(), gated);
  EXPECT_FALSE(single["spec"].contains("schedulingGates"));
}

TEST(MutatePod, RemovesPlacementRecordsFromANewPod) {
  Json copied = RayPod{}.json();
  copied["metadata"]["annotations"] = {{"tpuslice.dev/slice-members", "x"},
                                       {"tpuslice.dev/placed-at", "x"},
                                       {"tpuslice.dev/placed-in", "x"},
                                       {"tpuslice.dev/placed-on", "x"},
                                       {"tpuslice.dev/waiting", "x"}};
  EXPECT_EQ(mutated(copied), mutated(RayPod{}.json()));
}

TEST(MutatePod, SetsTheGangOfSlicesThatStartTogether) {
  const auto gang = [](int replica) {
    Json pod = RayPod{.replica = replica}.json();
    pod["metadata"]["annotations"]["tpuslice.dev/slices-together"] = "2";
    return string_at(mutated(pod), {"metadata", "annotations", "tpuslice.dev/slice-gang"});
  };
  EXPECT_NE(gang(0), "");
  EXPECT_EQ(gang(0), gang(1));
  EXPECT_FALSE(mutated(RayPod{}.json())["metadata"]["annotations"].contains("tpuslice.dev/slice-gang"));
}

TEST(MutatePod, SetsTheGangOfAMultislice) {
  const auto annotations_of = [](const JobPod& pod, const char* together = nullptr) {
    Json json = pod.json();
    if (together != nullptr) json["metadata"]["annotations"]["tpuslice.dev/slices-together"] = together;
    return mutated(json)["metadata"]["annotations"];
  };
  const auto gang_of = [](const Json& annotations) { return string_at(annotations, {"tpuslice.dev/slice-gang"}); };
  const JobPod first{.job_set = "train", .replicated_job = "slice", .replicas = 3};
  JobPod second = first;
  second.job_index = 1;
  JobPod only = first;
  only.replicas = 1;
  const Json multislice = annotations_of(first);
  EXPECT_NE(gang_of(multislice), "");
  EXPECT_EQ(string_at(multislice, {"tpuslice.dev/slices-together"}), "3");
  EXPECT_EQ(gang_of(annotations_of(second)), gang_of(multislice));
  EXPECT_EQ(gang_of(annotations_of(first, "1")), "") << "each starts alone";
  EXPECT_EQ(string_at(annotations_of(first, "2"), {"tpuslice.dev/slices-together"}), "2");
  EXPECT_EQ(annotations_of(first, "two"), multislice);
  EXPECT_EQ(gang_of(annotations_of(only)), "");
}

TEST(MutatePod, SetsANamedGangOfAnyWorkloads) {
  const auto gang_of = [](Json pod, const char* together) {
    pod["metadata"]["annotations"]["tpuslice.dev/gang"] = "rl";
    if (together != nullptr) pod["metadata"]["annotations"]["tpuslice.dev/slices-together"] = together;
    return string_at(mutated(pod), {"metadata", "annotations", "tpuslice.dev/slice-gang"});
  };
  EXPECT_EQ(gang_of(RayPod{}.json(), "2"), "named/rl");
  EXPECT_EQ(gang_of(JobPod{}.json(), "2"), "named/rl");
  EXPECT_EQ(gang_of(RayPod{}.json(), nullptr), "") << "of how many slices is unknown";
}

TEST(MutatePod, KeepsInitContainersAndSidecars) {
  Json pod = RayPod{}.json();
  const Json init = Json::parse(R"([{"name": "i", "env": [{"name": "A", "value": "b"}]}])");
  pod["spec"]["initContainers"] = init;
  pod["spec"]["containers"].push_back({{"name", "sidecar"}});
  const Json result = mutated(pod);
  EXPECT_EQ(result["spec"]["initContainers"], init);
  EXPECT_EQ(result["spec"]["containers"][1], Json({{"name", "sidecar"}}));
}

// Source: kuberay-tpu-webhook; a slice of one host stays where the scheduler likes, and keeps the platform's localhost.
TEST(MutatePod, AddsNoAffinityAndNoHostnameToASingleHostSlice) {
  const Json pod = mutated(
      RayPod{.topology = "2x4", .chips = {8}, .env = Json::array({entry("TPU_WORKER_HOSTNAMES", "localhost")})}.json());
  EXPECT_FALSE(pod["spec"].contains("affinity"));
  EXPECT_FALSE(pod["spec"].contains("hostname"));
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/slice-hosts"], "1");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"), "localhost");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "0");
}

TEST(MutatePod, SetsTheHostnameOfASingleHostInAMultisliceJob) {
  const Json pod =
      mutated(RayPod{.topology = "2x2", .replica = 1, .env = Json::array({entry("MEGASCALE_NUM_SLICES", "2")})}.json());
  EXPECT_EQ(pod["spec"]["hostname"], "g-1-0");
  EXPECT_EQ(pod["spec"]["subdomain"], "rc-headless");
  EXPECT_EQ(env_value(pod, "MEGASCALE_COORDINATOR_ADDRESS"), "g-0-0.rc-headless");
  EXPECT_FALSE(pod["spec"].contains("affinity"));
}

TEST(MutatePod, OptsOutOfMultisliceIfTheNumberIsEmpty) {
  const Json pod = mutated(RayPod{.env = Json::array({entry("MEGASCALE_NUM_SLICES", "")})}.json());
  EXPECT_EQ(env_value(pod, "MEGASCALE_SLICE_ID"), "<absent>");
}

TEST(MutatePod, ReplacesPlatformDefaultsInEveryContainer) {
  const Json defaults =
      Json::array({entry("TPU_WORKER_HOSTNAMES", "localhost"), entry("TPU_PROCESS_ADDRESSES", "localhost:8471"),
                   entry("TPU_PROCESS_PORT", "8471")});
  const Json pod =
      mutated(RayPod{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}, .host = 1, .env = defaults}.json());
  const std::string addresses =
      "g-0-0.rc-headless:8471,g-0-0.rc-headless:8472,g-0-1.rc-headless:8471,g-0-1.rc-headless:8472";
  for (const std::size_t container : {0U, 1U}) {
    EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES", container), addresses);
    EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES", container), "g-0-0.rc-headless,g-0-1.rc-headless");
    EXPECT_EQ(env_value(pod, "TPU_PROCESS_PORT", container), std::to_string(8471 + container));
  }
}

TEST(MutatePod, PrefersTheTopologyKeyOfTheAnnotation) {
  const auto key_of = [](const Json& pod) {
    return pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
              ["topologyKey"]
                  .get<std::string>();
  };
  Json pod = RayPod{}.json();
  EXPECT_EQ(key_of(mutated(pod, with_kinds({.topology_key = "example.com/rack"}))), "example.com/rack");
  pod["metadata"]["annotations"]["tpuslice.dev/topology-key"] = "cloud.google.com/gke-tpu-slice";
  EXPECT_EQ(key_of(mutated(pod, with_kinds({.topology_key = "example.com/rack"}))), "cloud.google.com/gke-tpu-slice");
}

TEST(MutatePod, AcceptsItsOwnHostnameAndRejectsAnother) {
  Json pod = RayPod{.host = 3}.json();
  pod["spec"]["hostname"] = "g-0-3";
  EXPECT_EQ(error_of(pod), "");
  pod["spec"]["hostname"] = "mine";
  EXPECT_THAT(error_of(pod), HasSubstr("spec.hostname: Invalid value: \"mine\": must be unset or \"g-0-3\""));
  pod = RayPod{}.json();
  pod["spec"]["subdomain"] = "mine";
  EXPECT_THAT(error_of(pod), HasSubstr("spec.subdomain: Invalid value: \"mine\": must be unset or \"rc-headless\""));
}

TEST(MutatePod, RejectsAnotherSliceLabel) {
  Json pod = RayPod{}.json();
  pod["metadata"]["labels"]["tpuslice.dev/slice"] = "shared";
  EXPECT_THAT(error_of(pod), HasSubstr("metadata.labels[tpuslice.dev/slice]: Invalid value: \"shared\""));
}

TEST(MutatePod, RejectsAMalformedPod) {
  for (const char* path : {"/spec/affinity", "/metadata/annotations", "/spec/affinity/podAffinity"}) {
    Json pod = RayPod{}.json();
    if (std::string_view(path) == "/spec/affinity/podAffinity") pod["spec"]["affinity"] = Json::object();
    pod[Json::json_pointer(path)] = "text";
    EXPECT_THAT(error_of(pod), HasSubstr("malformed")) << path;
  }
}

TEST(MutatePod, ReadsRequestsWithoutLimits) {
  Json pod = RayPod{}.json();
  pod["spec"]["containers"][0]["resources"] = Json::parse(R"({"requests": {"google.com/tpu": 4}})");
  EXPECT_EQ(mutated(pod)["spec"]["hostname"], "g-0-0");
}

TEST(DeviceEnv, IsInjectedIfEnabled) {
  const MutationOptions options = with_kinds({.device_env = true});
  const Json several = mutated(RayPod{.host = 2}.json(), options);
  EXPECT_EQ(env_value(several, "TPU_TOPOLOGY"), "4x4");
  EXPECT_EQ(env_value(several, "TPU_ACCELERATOR_TYPE"), "v6e-16");
  EXPECT_EQ(env_value(several, "TPU_HOST_BOUNDS"), "2,2,1");
  EXPECT_EQ(env_value(several, "TPU_WORKER_ID"), "2") << "the identity is not the device plugin's to give";
  EXPECT_EQ(mutated(several, options), several);

  const Json split = mutated(RayPod{.accelerator = "tpu7x", .topology = "2x2x1", .chips = {2, 2}}.json(), options);
  EXPECT_EQ(env_value(split, "TPU_HOST_BOUNDS", 1), "2,1,1");
  EXPECT_EQ(env_value(split, "TPU_RUNTIME_METRICS_PORTS", 1), "8431,8432,8433,8434,8435,8436,8437,8438");

  // Also for a pod without index: it may be the only host.
  const Json single = mutated(tpu::testing::pod_of({.topology = "2x4", .chips = {8}}, "alone"), options);
  EXPECT_EQ(env_value(single, "TPU_WORKER_ID"), "0");
  EXPECT_EQ(env_value(single, "TPU_WORKER_HOSTNAMES"), "localhost");
  EXPECT_EQ(mutated(single, options), single);
  EXPECT_EQ(env_value(mutated(RayPod{}.json()), "TPU_TOPOLOGY"), "<absent>") << "by default it is left to the plugin";
}

TEST(DeviceEnv, KeepsVariablesOfTheUserAndIgnoresUnknownLabels) {
  const MutationOptions options = with_kinds({.device_env = true});
  RayPod pod;
  pod.env = Json::array({Json({{"name", "TPU_TOPOLOGY"}, {"value", "mine"}})});
  EXPECT_EQ(env_value(mutated(pod.json(), options), "TPU_TOPOLOGY"), "mine");
  const Json unknown = tpu::testing::pod_of({.accelerator = "tpu-v9"}, "alone");
  EXPECT_EQ(mutated(unknown, options)["spec"], unknown["spec"]);
}

}  // namespace
}  // namespace tpuslice::rules
