// The environment of TPU pods of each kind, case by case.
//
// Sources: "lws" LeaderWorkerSet pkg/utils/accelerators/tpu_test.go; "ktw" ai-on-gke/kuberay-tpu-webhook main.go;
// "kuberay" its names; "gke" GKE's webhook for Indexed Jobs, as its documentation and JobSet's examples describe it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/support/admission.h"
#include "tests/support/pods.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::rules {
namespace {

using tpu::testing::env_value;
using tpu::testing::JobPod;
using tpu::testing::LwsPod;
using tpu::testing::PodShape;
using tpu::testing::RayPod;

const PodShape kNoSelectors{.accelerator = "", .topology = ""};

Json mutated(const Json& pod) {
  const Result<Json> result = mutate_pod(pod, with_kinds());
  EXPECT_TRUE(result.ok()) << result.error().message();
  return *result;
}

/// Pod `worker` of group `group` of the LeaderWorkerSet of lws' tests, whose service is "default".
Json lws_pod(int group, int worker, int size, bool leader_has_tpus, int subgroup_size = 0,
             PodShape shape = kNoSelectors) {
  Json pod = LwsPod{.shape = std::move(shape),
                    .set = "test-sample",
                    .group = group,
                    .worker = worker,
                    .size = size,
                    .leader_has_tpus = leader_has_tpus,
                    .subgroup_size = subgroup_size}
                 .json();
  pod["spec"]["subdomain"] = "default";
  return pod;
}

Json variable(const char* name, const char* value) { return {{"name", name}, {"value", value}}; }

TEST(IdentityVector30, LwsWorkerOfALeaderWithTpus) {  // Source: lws.
  const Json pod = mutated(lws_pod(0, 1, 2, true));
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "1");
  EXPECT_EQ(env_value(pod, "TPU_NAME"), "test-sample-0");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES"), "test-sample-0.default:8476,test-sample-0-1.default:8476");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_PORT"), "8476");
}

TEST(IdentityVector31, LwsWorkerOfALeaderWithoutTpus) {  // Source: lws.
  const Json pod = mutated(lws_pod(0, 1, 2, false));
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "0");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"), "test-sample-0-1.default");
}

TEST(IdentityVector32, LwsPodOfTwoContainers) {  // Source: lws.
  PodShape two = kNoSelectors;
  two.chips = {2, 2};
  const Json pod = mutated(lws_pod(0, 0, 2, true, 0, two));
  for (const std::size_t container : {0U, 1U}) {
    EXPECT_EQ(env_value(pod, "TPU_WORKER_ID", container), std::to_string(container));
    EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES", container),
              "test-sample-0.default,test-sample-0.default,test-sample-0-1.default,test-sample-0-1.default");
    EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES", container),
              "test-sample-0.default:8476,test-sample-0.default:8477,test-sample-0-1.default:8476,"
              "test-sample-0-1.default:8477");
    EXPECT_EQ(env_value(pod, "TPU_PROCESS_PORT", container), std::to_string(8476 + container));
  }
}

TEST(IdentityVector33, LwsPodWithPortsOfItsOwn) {  // Source: lws.
  PodShape two = kNoSelectors;
  two.chips = {2, 2};
  Json pod = lws_pod(0, 0, 2, true, 0, two);
  pod["spec"]["containers"][0]["env"] = Json::array({variable("TPU_PROCESS_PORT", "8478")});
  pod["spec"]["containers"][1]["env"] = Json::array({variable("TPU_PROCESS_PORT", "8479")});
  pod = mutated(pod);
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES", 1),
            "test-sample-0.default:8478,test-sample-0.default:8479,test-sample-0-1.default:8478,"
            "test-sample-0-1.default:8479");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_PORT", 0), "8478");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_PORT", 1), "8479");
}

TEST(IdentityVector34, LwsSubgroupWithTheLeader) {  // Source: lws.
  const Json pod = mutated(lws_pod(1, 7, 8, true, 4));
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "3");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"),
            "test-sample-1-4.default,test-sample-1-5.default,test-sample-1-6.default,test-sample-1-7.default");
}

TEST(IdentityVector35, LwsSubgroupWithoutTheLeader) {  // Source: lws.
  const Json pod = mutated(lws_pod(1, 5, 9, false, 4));
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "0");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"),
            "test-sample-1-5.default,test-sample-1-6.default,test-sample-1-7.default,test-sample-1-8.default");
}

TEST(IdentityVector36, LwsPodWhoseUserSetTheId) {  // Source: lws.
  Json pod = lws_pod(0, 1, 2, true);
  pod["spec"]["containers"][0]["env"] = Json::array({variable("TPU_WORKER_ID", "7")});
  EXPECT_EQ(mutated(pod)["spec"]["containers"], pod["spec"]["containers"]);
}

TEST(IdentityVector37, PodWithThePlatformsDefaults) {  // Source: ktw; LeaderWorkerSet would leave them.
  const Json defaults =
      Json::array({variable("TPU_WORKER_ID", "0"), variable("TPU_WORKER_HOSTNAMES", "localhost"),
                   variable("TPU_PROCESS_ADDRESSES", "localhost:8471"), variable("TPU_PROCESS_PORT", "8471")});
  const Json ray = mutated(RayPod{.accelerator = "tpu7x", .topology = "2x2x2", .host = 1, .env = defaults}.json());
  EXPECT_EQ(env_value(ray, "TPU_WORKER_ID"), "1");
  EXPECT_EQ(env_value(ray, "TPU_WORKER_HOSTNAMES"), "g-0-0.rc-headless,g-0-1.rc-headless");
  EXPECT_EQ(env_value(ray, "TPU_PROCESS_ADDRESSES"), "g-0-0.rc-headless:8471,g-0-1.rc-headless:8471");
  const Json lws = mutated(lws_pod(0, 1, 2, true, 0, {.accelerator = "tpu7x", .topology = "2x2x2", .env = defaults}));
  EXPECT_EQ(env_value(lws, "TPU_WORKER_ID"), "1");
  EXPECT_EQ(env_value(lws, "TPU_PROCESS_ADDRESSES"), "test-sample-0.default:8476,test-sample-0-1.default:8476");
  EXPECT_EQ(env_value(lws, "TPU_PROCESS_PORT"), "8476");
}

TEST(IdentityVector38, RayWorker) {  // Source: ktw.
  const Json pod = mutated(RayPod{.replica = 1, .host = 2}.json());
  EXPECT_EQ(pod["spec"]["hostname"], "g-1-2");
  EXPECT_EQ(pod["spec"]["subdomain"], "rc-headless");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "2");
  EXPECT_EQ(env_value(pod, "TPU_NAME"), "g-1");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"),
            "g-1-0.rc-headless,g-1-1.rc-headless,g-1-2.rc-headless,g-1-3.rc-headless");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES"), "<absent>");
}

RayPod split_host(int replica) {
  return {.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}, .replica = replica, .host = 1};
}

TEST(IdentityVector39, RayWorkerOfTwoContainers) {  // Source: ktw.
  const Json pod = mutated(split_host(0).json());
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID", 1), "3");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_ADDRESSES", 1),
            "g-0-0.rc-headless:8471,g-0-0.rc-headless:8472,g-0-1.rc-headless:8471,g-0-1.rc-headless:8472");
  EXPECT_EQ(env_value(pod, "TPU_PROCESS_PORT", 1), "8472");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES", 1), "g-0-0.rc-headless,g-0-1.rc-headless");
}

const Json kTwoSlices = Json::array({variable("MEGASCALE_NUM_SLICES", "2")});

TEST(IdentityVector40, RayMultisliceOnTpu7x) {  // Source: ktw.
  RayPod worker = split_host(1);
  worker.env = kTwoSlices;
  const Json pod = mutated(worker.json());
  EXPECT_EQ(env_value(pod, "MEGASCALE_SLICE_ID", 1), "1");
  EXPECT_EQ(env_value(pod, "MEGASCALE_COORDINATOR_ADDRESS", 1), "g-0-0.rc-headless:8081");
  EXPECT_EQ(env_value(pod, "MEGASCALE_PORT", 1), "8082");
}

TEST(IdentityVector41, RayMultisliceBeforeTpu7x) {  // Source: ktw.
  const Json pod = mutated(RayPod{.replica = 1, .host = 2, .env = kTwoSlices}.json());
  EXPECT_EQ(env_value(pod, "MEGASCALE_SLICE_ID"), "1");
  EXPECT_EQ(env_value(pod, "MEGASCALE_COORDINATOR_ADDRESS"), "g-0-0.rc-headless");
  EXPECT_EQ(env_value(pod, "MEGASCALE_PORT"), "8081");
}

TEST(IdentityVector42, RayGroupOfTooFewHostsIsRefused) {  // Source: ktw.
  const Json cluster = {
      {"metadata", {{"name", "rc"}}},
      {"spec",
       {{"headGroupSpec", {{"template", {{"spec", {{"containers", Json::array({Json({{"name", "head"}})})}}}}}}},
        {"workerGroupSpecs",
         Json::array({Json(
             {{"groupName", "g"}, {"numOfHosts", 2}, {"template", Json({{"spec", RayPod{}.json()["spec"]}})}})})}}}};
  EXPECT_THAT(to_message(validate_raycluster(cluster, nullptr)),
              ::testing::HasSubstr("spec.workerGroupSpecs[0].numOfHosts: Invalid value: 2: topology 4x4 of "
                                   "tpu-v6e-slice has 16 chips; with 4 chips per host that is 4 hosts"));
}

// Source: kuberay. It cuts the name to its last 50 characters where it creates the service, and so does its webhook;
// our controller never cuts it, so the whole name is right here. tests/e2e has the two meet.
TEST(IdentityVector43, RayClusterOfALongNameKeepsIt) {
  const std::string cluster(45, 'c');
  EXPECT_EQ(mutated(RayPod{.cluster = cluster}.json())["spec"]["subdomain"], cluster + "-headless");
}

TEST(IdentityVector44, JobSetOfTwoSlices) {  // Source: gke.
  const Json pod = mutated(
      JobPod{.subdomain = "js", .index = 2, .job_set = "js", .replicated_job = "w", .replicas = 2, .job_index = 1}
          .json());
  EXPECT_EQ(pod["spec"]["hostname"], "js-w-1-2");
  EXPECT_EQ(pod["spec"]["subdomain"], "js");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "2");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"), "js-w-1-0.js,js-w-1-1.js,js-w-1-2.js,js-w-1-3.js");
  EXPECT_EQ(env_value(pod, "MEGASCALE_NUM_SLICES"), "2");
  EXPECT_EQ(env_value(pod, "MEGASCALE_SLICE_ID"), "1");
  EXPECT_EQ(env_value(pod, "MEGASCALE_COORDINATOR_ADDRESS"), "js-w-0-0.js");
}

TEST(IdentityVector45, PodOfOneHost) {  // Sources: ktw, dp.
  RayPod worker{.topology = "2x4", .chips = {8}};
  worker.env = Json::array({variable("TPU_WORKER_HOSTNAMES", "localhost")});
  const Json pod = mutated(worker.json());
  EXPECT_FALSE(pod["spec"].contains("affinity"));
  EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"), "localhost");
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "0");
}

TEST(IdentityVector46, ChipsInAnInitContainerOnly) {  // Sources: ktw (nothing), lws (injected).
  const auto move_to_init = [](Json pod) {
    pod["spec"]["initContainers"] = std::move(pod["spec"]["containers"]);
    pod["spec"]["containers"] = Json::array({Json({{"name", "main"}})});
    return pod;
  };
  Json ray = move_to_init(RayPod{}.json());
  const Json labelled = mutated(ray);
  ray["metadata"]["labels"]["tpuslice.dev/slice"] = "none";
  EXPECT_EQ(labelled, ray) << "its chips are not available to slices";
  const Json lws = mutated(move_to_init(lws_pod(0, 1, 2, true)));
  EXPECT_EQ(env_value(lws, "TPU_WORKER_ID", 0, "initContainers"), "1");
  EXPECT_EQ(env_value(lws, "TPU_PROCESS_ADDRESSES", 0, "initContainers"),
            "test-sample-0.default:8476,test-sample-0-1.default:8476");
  EXPECT_EQ(env_value(lws, "TPU_WORKER_ID"), "<absent>");
}

}  // namespace
}  // namespace tpuslice::rules
