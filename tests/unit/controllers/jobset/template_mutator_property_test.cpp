// A pod created from a mutated template equals the pod that mutate_pod() returns, for any template of a user.
#include <gtest/gtest.h>

#include "api/base/random.h"
#include "controllers/jobset/template_mutator.h"
#include "tests/support/admission.h"
#include "tests/support/jobset/template_jobs.h"

namespace tpuslice::jobset {
namespace {

struct JobShape {
  const char* accelerator;
  const char* topology;
  std::vector<int> chips;  ///< Of each container; 0: a sidecar.
  int hosts;
  bool one_process = true;  ///< On each host.
};

const std::vector<JobShape>& job_shapes() {
  static const std::vector<JobShape> kShapes = {
      {"tpu-v6e-slice", "4x4", {4}, 4},     {"tpu-v6e-slice", "2x4", {0, 4}, 2},
      {"tpu-v6e-slice", "2x4", {8}, 1},     {"tpu-v5-lite-podslice", "4x8", {4, 0}, 8},
      {"tpu-v5p-slice", "2x2x4", {4}, 4},   {"tpu-v4-podslice", "2x2x2", {4, 0, 0}, 2},
      {"tpu7x", "2x2x2", {4}, 2},           {"tpu7x", "2x2x1", {2, 2}, 1},
      {"tpu7x", "2x2x2", {2, 2}, 2, false}, {"tpu7x", "2x2x4", {1, 1, 1, 1}, 4, false},
  };
  return kShapes;
}

template <typename T>
const T& one_of(Random& random, const std::vector<T>& choices) {
  return choices[random.uniform<std::size_t>(0, choices.size() - 1)];
}

bool perhaps(Random& random) { return random.uniform(0, 1) == 0; }

Json users_env(Random& random) {
  static const std::vector<std::string> kNames = {"TPU_WORKER_ID",
                                                  "TPU_WORKER_HOSTNAMES",
                                                  "TPU_NAME",
                                                  "TPU_PROCESS_PORT",
                                                  "TPU_PROCESS_ADDRESSES",
                                                  "MEGASCALE_NUM_SLICES",
                                                  "MEGASCALE_PORT",
                                                  "MEGASCALE_SLICE_ID",
                                                  "TPU_DEVICE_PLUGIN_HOST_IP",
                                                  "OTHER",
                                                  "JOB_COMPLETION_INDEX"};
  static const std::vector<std::string> kValues = {
      "", "0", "1", "3", "localhost", "localhost:8471", "8471", "9000", "a", "$(OTHER)", "$(TPU_WORKER_ID)", "x,y"};
  Json env = Json::array();
  for (int i = random.uniform(0, 6); i > 0; --i) {
    Json variable = {{"name", one_of(random, kNames)}};
    if (random.uniform(0, 7) == 0) {
      variable["valueFrom"]["fieldRef"]["fieldPath"] = "status.podIP";
    } else {
      variable["value"] = one_of(random, kValues);
    }
    env.push_back(variable);
  }
  return env;
}

void add_placement(Random& random, Json& pod) {
  Json& annotations = pod["metadata"]["annotations"];
  if (perhaps(random)) annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "example.com/rack";
  if (perhaps(random)) annotations["alpha.jobset.sigs.k8s.io/node-selector"] = "true";
  if (perhaps(random)) annotations["tpuslice.dev/slices-together"] = "2";
  if (random.uniform(0, 3) == 0) annotations["tpuslice.dev/gating"] = perhaps(random) ? "off" : "on";
  if (random.uniform(0, 3) == 0) annotations["tpuslice.dev/topology-key"] = "example.com/row";
  if (random.uniform(0, 3) == 0) annotations["tpuslice.dev/placed-in"] = "copied";
  Json& spec = pod["spec"];
  if (perhaps(random)) {
    spec["hostNetwork"] = true;
    spec["dnsPolicy"] = "ClusterFirstWithHostNet";
  }
  if (perhaps(random)) spec["tolerations"].push_back({{"operator", "Exists"}});
  if (perhaps(random)) spec["schedulingGates"].push_back({{"name", "kueue.x-k8s.io/admission"}});
  if (perhaps(random)) spec["initContainers"].push_back({{"name", "init"}, {"env", users_env(random)}});
  if (perhaps(random)) {
    spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].push_back(
        {{"topologyKey", "zone"}, {"labelSelector", {{"matchLabels", {{"a", "b"}}}}}});
  }
}

Json random_job(Random& random, const JobShape& shape) {
  Json job = TemplateJob{.shape = {shape.accelerator, shape.topology, shape.chips, {}},
                         .pods = shape.hosts,
                         .replicas = random.uniform(1, 3),
                         .job_index = random.uniform(0, 12)}
                 .json();
  Json& pod = job["spec"]["template"];
  for (Json& container : pod["spec"]["containers"]) container["env"] = users_env(random);
  add_placement(random, pod);
  return job;
}

void check_pod(const Json& bare_job, const Json& job, int index, const rules::MutationOptions& options) {
  const Json templated = pod_of(job, index);
  const Result<Json> admitted = rules::mutate_pod(pod_of(bare_job, index), options);
  ASSERT_TRUE(admitted.ok()) << admitted.error().message();
  ASSERT_EQ(as_found(templated), as_found(*admitted)) << bare_job.dump(1);
  // Where the webhook is asked all the same.
  Json expected = templated;
  expected["metadata"]["annotations"]["tpuslice.dev/slice-host"] = std::to_string(index);
  if (index == 0) expected["metadata"]["labels"]["tpuslice.dev/host"] = "0";
  const Result<Json> once = rules::mutate_pod(templated, options);
  ASSERT_TRUE(once.ok()) << once.error().message();
  ASSERT_EQ(*once, expected) << bare_job.dump(1);
  ASSERT_EQ(*rules::mutate_pod(*once, options), *once);
}

bool declares_worker_id(const Json& job) {
  const Json& containers = job["spec"]["template"]["spec"]["containers"];
  return std::ranges::any_of(containers,
                             [](const Json& container) { return declares(container["env"], "TPU_WORKER_ID"); });
}

TEST(MutateJobTemplateProperty, MutatesEveryPodLikeAdmission) {
  Random random(11);
  int templated = 0;
  for (int round = 0; round < 1000; ++round) {
    const JobShape& shape = one_of(random, job_shapes());
    const Json bare = random_job(random, shape);
    const rules::MutationOptions options = with_kinds({.gate = perhaps(random), .device_env = perhaps(random)});
    Json job = bare;
    const Result<bool> right = mutate_job_template(job, options);
    ASSERT_TRUE(right.ok()) << right.error().message();
    if (!*right) {
      ASSERT_EQ(job, bare);
      ASSERT_FALSE(shape.one_process) << bare.dump(1);
      continue;
    }
    ++templated;
    // With all ids given by the user, several processes are possible.
    ASSERT_TRUE(shape.one_process || declares_worker_id(bare)) << bare.dump(1);
    for (int index = 0; index < shape.hosts; ++index) {
      ASSERT_NO_FATAL_FAILURE(check_pod(bare, job, index, options)) << index;
    }
    Json again = job;
    ASSERT_TRUE(mutate_job_template(again, options).value_or(false));
    ASSERT_EQ(again, job);
  }
  EXPECT_GT(templated, 600);
}

}  // namespace
}  // namespace tpuslice::jobset
