#include "tpu/worker_env.h"
#include "tests/support/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pods.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::tpu {
namespace {

using ::testing::ElementsAre;
using testing::RayPod;

SliceIdentity identity_of(const RayPod& pod) { return **identity_of_pod(pod.json()); }

/// "NAME=value", "NAME<-field" in order.
std::vector<std::string> env_of(const RayPod& pod, std::size_t container, bool multislice = false) {
  const SliceIdentity identity = identity_of(pod);
  const auto ports = process_ports(identity, pod.json()["spec"]["containers"], identity.containers);
  std::vector<std::string> text;
  for (const EnvVar& var : worker_env(identity, container, ports, multislice)) {
    text.push_back(var.field_path.empty() ? var.name + "=" + var.value : var.name + "<-" + var.field_path);
  }
  return text;
}

Json entry(const char* name, const char* value) { return {{"name", name}, {"value", value}}; }

std::string value_in(const Json& env, std::string_view name) {
  for (const Json& e : env) {
    if (string_at(e, {"name"}) == name) return string_at(e, {"value"});
  }
  return "<absent>";
}

// Source: kuberay-tpu-webhook; v6e 4x4, replica 1, host 2.
TEST(WorkerEnv, OfAV6eHost) {
  EXPECT_THAT(env_of(RayPod{.replica = 1, .host = 2}, 0),
              ElementsAre("TPU_WORKER_ID=2",
                          "TPU_WORKER_HOSTNAMES=g-1-0.rc-headless,g-1-1.rc-headless,g-1-2.rc-headless,"
                          "g-1-3.rc-headless",
                          "TPU_NAME=g-1", "TPU_DEVICE_PLUGIN_HOST_IP<-status.hostIP",
                          "TPU_DEVICE_PLUGIN_ADDR=$(TPU_DEVICE_PLUGIN_HOST_IP):2112"));
}

// Source: kuberay-tpu-webhook; tpu7x 2x2x2, two containers of two chips, host 1.
TEST(WorkerEnv, OfTheSecondContainerOfATpu7xHost) {
  const RayPod pod{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}, .host = 1};
  EXPECT_THAT(env_of(pod, 1),
              ElementsAre("TPU_WORKER_ID=3", "TPU_WORKER_HOSTNAMES=g-0-0.rc-headless,g-0-1.rc-headless", "TPU_NAME=g-0",
                          "TPU_PROCESS_ADDRESSES=g-0-0.rc-headless:8471,g-0-0.rc-headless:8472,"
                          "g-0-1.rc-headless:8471,g-0-1.rc-headless:8472",
                          "TPU_PROCESS_PORT=8472", "TPU_DEVICE_PLUGIN_HOST_IP<-status.hostIP",
                          "TPU_DEVICE_PLUGIN_ADDR=$(TPU_DEVICE_PLUGIN_HOST_IP):2112"));
}

TEST(WorkerEnv, OfAMultisliceJobOnTpu7xHasAPortPerContainer) {
  const RayPod pod{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {2, 2}, .replica = 1, .host = 1};
  const auto env = env_of(pod, 1, true);
  EXPECT_THAT(std::vector<std::string>(env.end() - 3, env.end()),
              ElementsAre("MEGASCALE_SLICE_ID=1", "MEGASCALE_COORDINATOR_ADDRESS=g-0-0.rc-headless:8081",
                          "MEGASCALE_PORT=8082"));
}

TEST(WorkerEnv, OfAMultisliceJobBeforeTpu7xHasNoPortInTheCoordinator) {
  const auto env = env_of(RayPod{.replica = 1, .host = 2}, 0, true);
  EXPECT_THAT(
      std::vector<std::string>(env.end() - 3, env.end()),
      ElementsAre("MEGASCALE_SLICE_ID=1", "MEGASCALE_COORDINATOR_ADDRESS=g-0-0.rc-headless", "MEGASCALE_PORT=8081"));
}

// The service of KubeRay is never cut, so neither is its name here.
TEST(WorkerEnv, DoesNotTruncateALongClusterName) {
  const std::string cluster(45, 'c');
  EXPECT_THAT(env_of(RayPod{.cluster = cluster}, 0)[1],
              ::testing::StartsWith("TPU_WORKER_HOSTNAMES=g-0-0." + cluster + "-headless,"));
}

TEST(WorkerEnv, OfASingleHostSliceHasNoHostnames) {
  EXPECT_THAT(env_of(RayPod{.topology = "2x4", .chips = {8}}, 0),
              ElementsAre("TPU_WORKER_ID=0", "TPU_NAME=g-0", "TPU_DEVICE_PLUGIN_HOST_IP<-status.hostIP",
                          "TPU_DEVICE_PLUGIN_ADDR=$(TPU_DEVICE_PLUGIN_HOST_IP):2112"));
}

TEST(WorkerEnv, OfASingleTpu7xHostUsesLocalhost) {
  const auto env = env_of(RayPod{.accelerator = "tpu7x", .topology = "2x2x1", .chips = {2, 2}}, 1);
  EXPECT_THAT(env, ::testing::Contains("TPU_PROCESS_ADDRESSES=localhost:8471,localhost:8472"));
  EXPECT_THAT(env, ::testing::Contains("TPU_PROCESS_PORT=8472"));
}

TEST(ProcessPorts, AreThoseThatTheUserDeclares) {
  const RayPod pod{
      .accelerator = "tpu7x", .topology = "2x2x2", .env = Json::array({entry("TPU_PROCESS_PORT", "9000")})};
  const SliceIdentity identity = identity_of(pod);
  EXPECT_THAT(process_ports(identity, pod.json()["spec"]["containers"], identity.containers), ElementsAre(9000));
}

// Source: GKE sets these on tpu7x pods that it does not recognise; kuberay-tpu-webhook overwrites them.
TEST(MergeEnv, ReplacesPlatformDefaults) {
  const Json env =
      Json::array({entry("TPU_WORKER_HOSTNAMES", "localhost"), entry("TPU_PROCESS_ADDRESSES", "localhost:8471"),
                   entry("TPU_PROCESS_PORT", "8471"), entry("TPU_WORKER_ID", "1")});
  const std::vector<EnvVar> wanted = {{"TPU_WORKER_ID", "3", {}},
                                      {"TPU_WORKER_HOSTNAMES", "a,b", {}},
                                      {"TPU_PROCESS_ADDRESSES", "a:8471,b:8471", {}},
                                      {"TPU_PROCESS_PORT", "8472", {}}};
  const Json merged = merge_env(env, wanted, 1);
  EXPECT_EQ(merged.size(), 4U);
  for (const EnvVar& var : wanted) EXPECT_EQ(value_in(merged, var.name), var.value);
}

TEST(MergeEnv, KeepsVariablesOfTheUser) {
  const Json env =
      Json::array({entry("TPU_WORKER_ID", "7"), entry("TPU_WORKER_HOSTNAMES", "mine"),
                   Json({{"name", "TPU_NAME"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}})});
  const Json merged =
      merge_env(env, {{"TPU_WORKER_ID", "0", {}}, {"TPU_WORKER_HOSTNAMES", "a", {}}, {"TPU_NAME", "g-0", {}}}, 0);
  EXPECT_EQ(merged, env);
}

TEST(MergeEnv, PutsNewVariablesBeforeThoseOfTheUser) {
  const Json env = Json::array({entry("ARGS", "--id=$(TPU_WORKER_ID)")});
  const Json merged = merge_env(env, {{"TPU_WORKER_ID", "0", {}}, {"TPU_NAME", "g-0", {}}}, 0);
  EXPECT_EQ(merged[0]["name"], "TPU_WORKER_ID");
  EXPECT_EQ(merged[1]["name"], "TPU_NAME");
  EXPECT_EQ(merged[2]["name"], "ARGS");
}

TEST(MergeEnv, PutsAVariableAfterThatOfTheUserItRefersTo) {
  const Json env = Json::array({entry("HOST_IP", "10.0.0.1")});
  const Json merged = merge_env(env, {{"ADDR", "$(HOST_IP):2112", {}}, {"ESCAPED", "$$(HOST_IP)", {}}}, 0);
  EXPECT_EQ(merged[0]["name"], "ESCAPED");
  EXPECT_EQ(merged[2]["name"], "ADDR");
}

TEST(WantsMultislice, FollowsTheUserElseTheWorkload) {
  EXPECT_FALSE(wants_multislice(1, Json()));
  EXPECT_FALSE(wants_multislice(1, Json::array()));
  EXPECT_TRUE(wants_multislice(2, Json()));
  EXPECT_FALSE(wants_multislice(2, Json::array({entry("MEGASCALE_NUM_SLICES", "")})));
  EXPECT_TRUE(wants_multislice(1, Json::array({entry("MEGASCALE_NUM_SLICES", "2")})));
  EXPECT_TRUE(
      wants_multislice(1, Json::array({Json({{"name", "MEGASCALE_NUM_SLICES"}, {"valueFrom", {{"x", "y"}}}})})));
}

std::string value_of_variable(const std::vector<EnvVar>& env, std::string_view name) {
  for (const EnvVar& variable : env) {
    if (variable.name == name) return variable.value;
  }
  return {};
}

TEST(ListSizes, AreThoseOfTheListsThatAreBuilt) {
  using testing::JobPod;
  using testing::LwsPod;
  const std::vector<Json> pods = {
      RayPod{}.json(),
      RayPod{.accelerator = "tpu7x", .topology = "4x4x8", .chips = {2, 2}}.json(),
      RayPod{.accelerator = "tpu7x", .topology = "1x1x1", .chips = {1}}.json(),
      JobPod{.shape = testing::kLargestSlice}.json(),
      JobPod{.shape = {.topology = "16x16"}, .index = 990}.json(),
      JobPod{.index = 2'147'483'647}.json(),
      LwsPod{}.json(),
      LwsPod{.shape = {.accelerator = "", .topology = "", .chips = {1, 1, 1}}, .size = 1100}.json(),
      LwsPod{.worker = 1, .size = 9, .leader_has_tpus = false, .subgroup_size = 4}.json(),
      LwsPod{.shape = {.topology = "2x2"}, .size = 3}.json(),
  };
  for (const Json& pod : pods) {
    const SliceIdentity identity = **identity_of_pod(pod);
    std::vector<int> ports = process_ports(identity, pod["spec"]["containers"], identity.containers);
    ports.front() = 7;
    const std::vector<EnvVar> env = worker_env(identity, 0, ports, false);
    const ListSizes built{
        .hostnames = static_cast<std::int64_t>(value_of_variable(env, "TPU_WORKER_HOSTNAMES").size()),
        .addresses = static_cast<std::int64_t>(value_of_variable(env, "TPU_PROCESS_ADDRESSES").size())};
    EXPECT_EQ(list_sizes(identity, ports), built) << pod["metadata"].dump();
  }
}

TEST(WorkerEnv, OfTheLastCompletionIndexHasNumbersBeyondIt) {
  const SliceIdentity identity = **identity_of_pod(testing::JobPod{.index = 2'147'483'647}.json());
  EXPECT_EQ(identity.host_index, 3);
  EXPECT_EQ(identity.host_names.of(4), "train-2147483648") << "no overflow";
}

}  // namespace
}  // namespace tpuslice::tpu
