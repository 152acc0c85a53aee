// All nodes stop to report: their pods run on, so no slice is torn down. A node that is lost afterwards is handled.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kHosts = 2;
constexpr int kSlicesPerJobSet = 250;
constexpr ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));  // NOLINT: a wrong number is 1
}

struct PodOfSlice {
  std::string uid;
  std::string slice;
  std::string node;
  friend bool operator==(const PodOfSlice&, const PodOfSlice&) = default;
};
using Pods = std::map<std::string, PodOfSlice>;  ///< By name.

/// TPUSLICE_OUTAGE_SLICES slices of two hosts, and nodes for one more; nothing is heard of the nodes for
/// TPUSLICE_OUTAGE_SECONDS.
class NodeOutage : public ::testing::Test {
 protected:
  void SetUp() override {
    ControlPlaneOptions options;
    options.pools = pools();
    options.crds = {"deploy/crds/jobset.x-k8s.io_jobsets.yaml"};
    options.start_limit = 300s + slices_ * 1s;  // All nodes are Ready then.
    // Each node renews its Lease twice in this time: at most 50 writes a second.
    options.node_grace = std::max<Duration>(10s, nodes_ * 40ms);
    auto plane = ControlPlane::start(std::move(options));
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    const auto kubeconfig = install_operator(*plane_);
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    const int port = free_port().value();
    ASSERT_TRUE(register_webhook(client(), port).ok());
    OperatorProcessOptions op;
    op.kubeconfig = *kubeconfig;
    op.log = plane_->dir() + "/operator.log";
    op.webhook_port = port;
    op.node_timeout_seconds = node_timeout_;
    auto started = OperatorProcess::start(op);
    ASSERT_TRUE(started.ok()) << started.error().message();
    operator_ = *std::move(started);
  }
  void TearDown() override {
    if (plane_ && HasFailure()) plane_->keep_dir();
  }

  [[nodiscard]] std::vector<sim::NodePool> pools() const {
    std::vector<sim::NodePool> out;
    for (int pool = 0; pool <= slices_; ++pool) {
      sim::NodePool tpu;
      tpu.name = fmt::format("v6e-{:04}", pool);
      tpu.accelerator = "tpu-v6e-slice";
      tpu.topology = "2x4";
      tpu.machine_type = "ct6e-standard-4t";
      tpu.hosts = kHosts;
      tpu.chips_per_host = 4;
      out.push_back(std::move(tpu));
    }
    return out;
  }

  void create_jobsets() {
    for (int left = slices_, set = 0; left > 0; left -= kSlicesPerJobSet, ++set) {
      const auto yaml = parse_yaml(fmt::format(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train-{}, namespace: default}}
spec:
  replicatedJobs:
    - name: slice
      replicas: {}
      template:
        spec:
          parallelism: 2
          completions: 2
          completionMode: Indexed
          backoffLimit: 10
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x4}}
              containers: [{{name: worker, image: example, resources: {{limits: {{google.com/tpu: "4"}}}}}}]
)",
                                               set, std::min(left, kSlicesPerJobSet)));
      ASSERT_TRUE(yaml.ok()) << yaml.error().message();
      const auto created = client().create(kJobSets, Object(*yaml));
      ASSERT_TRUE(created.ok()) << created.error().message();
    }
  }

  /// Those that have a node and are not being deleted.
  [[nodiscard]] Pods pods() {
    Pods out;
    client::ListOptions options;
    options.namespace_name = "default";
    do {
      const auto page = client().list(kPods, options, {});
      if (!page) break;
      for (const std::string& text : page->items) {
        const Object pod(Json::parse(text));
        const std::string node = string_at(pod.json(), {"spec", "nodeName"});
        if (!node.empty() && !pod.deletion_timestamp()) out[pod.name()] = {pod.uid(), pod.label(tpu::kSlice), node};
      }
      options.continue_token = page->continue_token;
    } while (!options.continue_token.empty());
    return out;
  }

  /// Number of pods that do not exist now as they did.
  [[nodiscard]] std::size_t others_than_before(const Pods& before) {
    const Pods now = pods();
    return static_cast<std::size_t>(std::ranges::count_if(before, [&](const auto& each) {
      const auto found = now.find(each.first);
      return found == now.end() || !(found->second == each.second);
    }));
  }

  [[nodiscard]] int nodes_that_are(const std::string& status) {
    int count = 0;
    client::ListOptions options;
    do {
      const auto page = client().list(kNodes, options, {});
      if (!page) break;
      for (const std::string& text : page->items) {
        const Json node = Json::parse(text);
        for (const Json& condition : array_at(node, {"status", "conditions"})) {
          if (string_at(condition, {"type"}) == "Ready" && string_at(condition, {"status"}) == status) ++count;
        }
      }
      options.continue_token = page->continue_token;
    } while (!options.continue_token.empty());
    return count;
  }

  void print(const std::string& what) {
    fmt::print("{:6.1f} s  {}\n", std::chrono::duration<double>(clock_.now() - begin_).count(), what);
    std::fflush(stdout);
  }

  [[nodiscard]] client::Client& client() { return plane_->client(); }

  const int slices_ = number_from("TPUSLICE_OUTAGE_SLICES", 6);
  const int nodes_ = (slices_ + 1) * kHosts;
  const int seconds_ = number_from("TPUSLICE_OUTAGE_SECONDS", 25);
  // Passes several times during the outage, and is longer than the nodes need to return one by one.
  const int node_timeout_ = std::min(60, seconds_ / 3);
  const RealClock clock_;
  const Instant begin_ = clock_.now();
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<OperatorProcess> operator_;
};

TEST_F(NodeOutage, TearsDownNoSlice) {
  create_jobsets();
  const auto count = static_cast<std::size_t>(slices_ * kHosts);
  ASSERT_TRUE(eventually([&] { return pods().size() == count; }, 900s)) << pods().size() << " of " << count;
  const Pods before = pods();
  print(fmt::format("{} slices run, {} pods", slices_, before.size()));

  ASSERT_TRUE(plane_->pause("kwok").ok());
  ASSERT_TRUE(eventually([&] { return nodes_that_are("Unknown") == nodes_; }, 300s)) << nodes_that_are("Unknown");
  print(fmt::format("{} of {} nodes are Unknown", nodes_, nodes_));
  tpuslice::pause(std::chrono::seconds(seconds_), {});
  EXPECT_EQ(nodes_that_are("Unknown"), nodes_);
  EXPECT_EQ(others_than_before(before), 0U) << "no pod is deleted";
  ASSERT_TRUE(plane_->resume("kwok").ok());
  print(fmt::format("the outage of {} s ends", seconds_));
  ASSERT_TRUE(eventually([&] { return nodes_that_are("True") > nodes_ / 2; }, 300s)) << nodes_that_are("True");
  print("half of the nodes are Ready again");
  ASSERT_TRUE(eventually([&] { return nodes_that_are("True") == nodes_; }, 300s)) << nodes_that_are("True");
  print("all nodes are Ready again");
  tpuslice::pause(std::chrono::seconds(node_timeout_ + 5), {});
  ASSERT_EQ(others_than_before(before), 0U) << "no pod is deleted when the nodes return one by one";
  print("no pod was deleted");

  const PodOfSlice& victim = before.begin()->second;
  ASSERT_TRUE(plane_->lose_node(victim.node).ok());
  const auto is_torn_down = [&] {
    return std::ranges::none_of(
        pods(), [&](const auto& each) { return each.second.slice == victim.slice && before.contains(each.first); });
  };
  EXPECT_TRUE(eventually(is_torn_down, 300s)) << "the slice on " << victim.node;
  print(fmt::format("node {} is lost: its slice is torn down", victim.node));

  // As a cloud does that repairs it. Its pod, which no kubelet terminates, is then deleted as an orphan.
  ASSERT_TRUE(client().remove(kNodes, {{}, victim.node}).ok());
  EXPECT_TRUE(eventually([&] { return pods().size() == count; }, 300s)) << "the slice is rebuilt";
  EXPECT_EQ(others_than_before(before), static_cast<std::size_t>(kHosts)) << "the other slices are as before";
  print(fmt::format("node {} is deleted: its slice runs elsewhere, the other {} are as before", victim.node,
                    slices_ - 1));
}

}  // namespace
}  // namespace tpuslice::testing
