// What holds for every slice: of every legal topology up to 256 hosts, and of random pods.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "api/base/random.h"
#include "api/types/patch.h"
#include "tests/support/admission.h"
#include "tests/support/pods.h"
#include "tpu/catalog.h"
#include "tpu/geometry.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::rules {
namespace {

using tpu::testing::env_value;
using tpu::testing::RayPod;

constexpr int kMaxHosts = 256;

struct Shape {
  std::string label;
  std::string topology;
  std::vector<int> chips;
  int hosts;
};

std::vector<Shape> legal_shapes() {
  std::vector<Shape> shapes;
  const std::vector<int> edges = {1, 2, 4, 8, 12, 16};
  for (const char* label : {"tpu-v4-podslice", "tpu-v5-lite-podslice", "tpu-v5p-slice", "tpu-v6e-slice", "tpu7x"}) {
    const tpu::Accelerator& accelerator = **tpu::find_accelerator(label);
    for (const int x : edges) {
      for (const int y : edges) {
        for (const int z : accelerator.rank == 3 ? edges : std::vector<int>{0}) {
          const std::string text = z == 0 ? fmt::format("{}x{}", x, y) : fmt::format("{}x{}x{}", x, y, z);
          const tpu::Topology topology = *tpu::Topology::parse(text);
          if (!tpu::check_topology(accelerator, topology)) continue;
          for (const std::int64_t chips : tpu::chips_per_host_choices(accelerator, topology)) {
            const int hosts = *tpu::host_count(topology, chips);
            if (hosts > kMaxHosts) continue;
            shapes.push_back({label, text, {static_cast<int>(chips)}, hosts});
            if (accelerator.splits_hosts() && chips == 4) shapes.push_back({label, text, {2, 2}, hosts});
          }
        }
      }
    }
  }
  return shapes;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// All pods of one slice agree, and each finds itself in the list.
void check_slice(const Shape& shape) {
  SCOPED_TRACE(fmt::format("{} {} by {}", shape.label, shape.topology, shape.chips.size()));
  std::set<std::string> ids;
  std::set<std::string> keys;
  std::set<std::string> lists;
  for (int host = 0; host < shape.hosts; ++host) {
    const Json pod =
        RayPod{.accelerator = shape.label, .topology = shape.topology, .chips = shape.chips, .replica = 3, .host = host}
            .json();
    const Result<Json> once = mutate_pod(pod, with_kinds());
    ASSERT_TRUE(once.ok()) << once.error().message();
    ASSERT_EQ(*mutate_pod(*once, with_kinds()), *once);
    for (std::size_t container = 0; container < shape.chips.size(); ++container) {
      const std::string id = env_value(*once, "TPU_WORKER_ID", container);
      EXPECT_TRUE(ids.insert(id).second) << "worker id " << id << " twice";
      if (shape.hosts == 1) continue;
      const std::string list = env_value(*once, "TPU_WORKER_HOSTNAMES", container);
      lists.insert(list);
      const std::string self =
          (*once)["spec"]["hostname"].get<std::string>() + "." + (*once)["spec"]["subdomain"].get<std::string>();
      EXPECT_EQ(split(list).at(static_cast<std::size_t>(host)), self);
      const std::string addresses = env_value(*once, "TPU_PROCESS_ADDRESSES", container);
      if (shape.label != "tpu7x") continue;
      EXPECT_EQ(split(addresses).at(std::stoul(id)), self + ":" + env_value(*once, "TPU_PROCESS_PORT", container));
    }
    if (shape.hosts > 1) keys.insert((*once)["metadata"]["labels"]["tpuslice.dev/slice"].get<std::string>());
  }
  const std::size_t processes = static_cast<std::size_t>(shape.hosts) * shape.chips.size();
  EXPECT_EQ(ids.size(), processes);
  for (std::size_t id = 0; id < processes; ++id) EXPECT_TRUE(ids.count(std::to_string(id)));
  const tpu::Bounds bounds = *tpu::host_bounds(*tpu::Topology::parse(shape.topology), shape.chips.front());
  EXPECT_EQ(static_cast<std::int64_t>(processes), bounds[0] * bounds[1] * bounds[2]);
  if (shape.hosts == 1) return;
  EXPECT_EQ(lists.size(), 1U);
  EXPECT_EQ(keys.size(), 1U);
  EXPECT_EQ(split(*lists.begin()).size(), static_cast<std::size_t>(shape.hosts));
}

TEST(MutatePodProperty, HoldsForEverySliceOfEveryTopology) {
  const std::vector<Shape> shapes = legal_shapes();
  EXPECT_GT(shapes.size(), 60U);
  for (const Shape& shape : shapes) check_slice(shape);
}

Json random_env(Random& random) {
  const std::vector<const char*> names = {"TPU_WORKER_ID",    "TPU_WORKER_HOSTNAMES",      "TPU_NAME",
                                          "TPU_PROCESS_PORT", "TPU_PROCESS_ADDRESSES",     "MEGASCALE_NUM_SLICES",
                                          "MEGASCALE_PORT",   "TPU_DEVICE_PLUGIN_HOST_IP", "OTHER"};
  const std::vector<const char*> values = {
      "",     "0",  "1", "localhost", "localhost:8471", "8471", "a", "$(OTHER)", "localhost:8471,localhost:8472",
      "9000", "x,y"};
  Json env = Json::array();
  for (int i = random.uniform(0, 6); i > 0; --i) {
    Json entry = {{"name", names[random.uniform<std::size_t>(0, names.size() - 1)]}};
    if (random.uniform(0, 7) == 0) {
      entry["valueFrom"] = {{"fieldRef", {{"fieldPath", "status.podIP"}}}};
    } else {
      entry["value"] = values[random.uniform<std::size_t>(0, values.size() - 1)];
    }
    env.push_back(entry);
  }
  return env;
}

Json random_affinity(Random& random) {
  Json affinity = Json::object();
  const Json term = {{"topologyKey", "zone"}, {"labelSelector", {{"matchLabels", {{"a", "b"}}}}}};
  if (random.uniform(0, 1) == 0) affinity["nodeAffinity"] = {{"x", 1}};
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    if (random.uniform(0, 1) == 0) continue;
    affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] = Json::array({term});
  }
  return affinity;
}

/// The patch is what a comparison of the whole pods would find, and no more operations.
void check_patch(const Json& pod, const Json& mutated) {
  Json changed = pod;
  const Result<PodReview> review = review_pod(changed, with_kinds());
  ASSERT_TRUE(review.ok()) << review.error().message();
  const Json& patch = review->patch;
  EXPECT_EQ(changed, mutated);
  const Json whole = json_diff(pod, mutated);
  ASSERT_TRUE(std::is_permutation(patch.begin(), patch.end(), whole.begin(), whole.end()))
      << patch.dump() << " and " << whole.dump();
  EXPECT_EQ(apply_json_patch(pod, patch).value(), mutated);
}

TEST(MutatePodProperty, ChangesNothingTheSecondTime) {
  Random random(7);
  const std::vector<Shape> shapes = {{"tpu7x", "2x2x1", {4}, 1},       {"tpu7x", "2x2x1", {2, 2}, 1},
                                     {"tpu7x", "2x2x2", {2, 2}, 2},    {"tpu7x", "2x2x2", {1, 1, 1, 1}, 2},
                                     {"tpu-v6e-slice", "4x4", {4}, 4}, {"tpu-v6e-slice", "2x4", {8}, 1}};
  for (int round = 0; round < 3000; ++round) {
    const Shape& shape = shapes[random.uniform<std::size_t>(0, shapes.size() - 1)];
    Json pod = RayPod{.accelerator = shape.label,
                      .topology = shape.topology,
                      .chips = shape.chips,
                      .replica = random.uniform(0, 2),
                      .host = random.uniform(0, shape.hosts - 1)}
                   .json();
    for (Json& container : pod["spec"]["containers"]) container["env"] = random_env(random);
    if (random.uniform(0, 1) == 0) pod["spec"]["affinity"] = random_affinity(random);
    const Result<Json> once = mutate_pod(pod, with_kinds());
    ASSERT_TRUE(once.ok()) << once.error().message();
    ASSERT_EQ(*mutate_pod(*once, with_kinds()), *once) << pod.dump(1);
    ASSERT_NO_FATAL_FAILURE(check_patch(pod, *once));
    // The user's terms come first and are whole.
    const Json affinity = pod["spec"].value("affinity", Json::object());
    for (const auto& [kind, terms] : affinity.items()) {
      if (kind == "nodeAffinity") {
        EXPECT_EQ((*once)["spec"]["affinity"][kind], terms);
      } else {
        EXPECT_EQ((*once)["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"][0],
                  terms["requiredDuringSchedulingIgnoredDuringExecution"][0]);
      }
    }
  }
}

}  // namespace
}  // namespace tpuslice::rules
