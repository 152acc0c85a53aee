// Slices on node pools that do not exist yet: the operator's scouts beside affinity alone, on a real scheduler, with an
// autoscaler that adds whole pools. Prints the time until all slices run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/support/autoscaler/autoscaler_thread.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kHosts = 4;
constexpr const char* kNamespace = "default";
constexpr const char* kGatingOff = "tpuslice.dev/gating: \"off\"";

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::max(1, std::atoi(text));  // NOLINT: a wrong number is 1
}

/// Where the pods of all slices are.
struct Usage {
  int pods = 0;         ///< That exist.
  int running = 0;      ///< Pods.
  int whole = 0;        ///< Slices with all pods on nodes of one pool.
  int half_placed = 0;  ///< Slices with pods on nodes, but not whole.
  int split_pools = 0;  ///< Pools with pods of more than one slice.
  int half_used = 0;    ///< Pools with nodes that run pods and nodes that do not.
};

/// TPUSLICE_AUTOSCALED_SLICES slices, pools that come TPUSLICE_AUTOSCALED_SECONDS after they were asked for, and a
/// tenth more groups than slices. TPUSLICE_AUTOSCALED_FLAG is a further flag of the operator,
/// TPUSLICE_AUTOSCALED_OPERATOR the program of another build to compare with.
class AutoscaledSlices : public ::testing::Test {
 protected:
  void SetUp() override {
    ControlPlaneOptions options;
    options.pools = {sim::NodePool{.name = "cpu"}};
    // Each node renews its Lease four times in this time: at most 100 writes a second.
    options.node_grace = std::max<Duration>(options.node_grace, slices_ * kHosts * 40ms);
    auto plane = ControlPlane::start(std::move(options));
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    start_autoscaler();
    if (!HasFatalFailure()) start_operator();
  }
  void TearDown() override {
    if (autoscaler_) autoscaler_->stop();
    if (!plane_ || !HasFailure()) return;
    plane_->keep_dir();
    fmt::print("logs: {}\n", plane_->dir());
  }

  void start_autoscaler() {
    AutoscalerOptions options;
    for (int i = 0; i < slices_ + std::max(1, slices_ / 10); ++i) {
      sim::NodePool pool{.name = fmt::format("v6e-{:04}", i), .accelerator = "tpu-v6e-slice", .topology = "4x4"};
      pool.machine_type = "ct6e-standard-4t";
      pool.hosts = kHosts;
      pool.chips_per_host = 4;
      pool.cpu = "180";
      pool.memory = "720Gi";
      options.groups.push_back(node_group(std::move(pool)));
    }
    options.provision_time = std::chrono::seconds(seconds_);
    options.start_time = 2s;
    options.scan_interval = 1s;
    options.writers = 8;
    autoscaler_ = std::make_unique<AutoscalerThread>(client(), client(), std::move(options));
    const Status started = autoscaler_->start();
    ASSERT_TRUE(started.ok()) << started.error().message();
  }

  void start_operator() {
    const auto kubeconfig = install_operator(*plane_);
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    const int port = free_port().value();
    ASSERT_TRUE(register_webhook(client(), port).ok());
    OperatorProcessOptions options{
        .kubeconfig = *kubeconfig, .log = plane_->dir() + "/operator.log", .webhook_port = port};
    if (const char* flag = std::getenv("TPUSLICE_AUTOSCALED_FLAG")) options.flags = {flag};
    if (const char* program = std::getenv("TPUSLICE_AUTOSCALED_OPERATOR")) options.program = program;
    auto started = OperatorProcess::start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message();
    operator_ = *std::move(started);
  }

  void create(const ResourceType& type, const std::string& yaml) {
    const auto object = parse_yaml(yaml);
    ASSERT_TRUE(object.ok()) << object.error().message();
    const auto created = client().create(type, Object(*object));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }

  /// An Indexed Job of one slice, and its headless service.
  void create_slice(const std::string& name, const std::string& annotations) {
    create(kServices, fmt::format(R"(
apiVersion: v1
kind: Service
metadata: {{name: {0}, namespace: {1}}}
spec: {{clusterIP: None, selector: {{batch.kubernetes.io/job-name: {0}}}}}
)",
                                  name, kNamespace));
    create(kJobs, fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {0}, namespace: {1}}}
spec:
  completions: {2}
  parallelism: {2}
  completionMode: Indexed
  backoffLimitPerIndex: 5
  template:
    metadata: {{annotations: {{{3}}}}}
    spec:
      subdomain: {0}
      restartPolicy: Never
      nodeSelector: {{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}}
      containers: [{{name: worker, image: example, resources: {{limits: {{google.com/tpu: "4"}}}}}}]
)",
                              name, kNamespace, kHosts, annotations));
  }

  [[nodiscard]] Usage usage() {
    Usage out;
    std::map<std::string, std::map<std::string, int>> pods_by_pool;  // By slice.
    std::map<std::string, std::set<std::string>> slices_by_pool;
    std::map<std::string, std::set<std::string>> used_nodes;
    const auto pods = list_all(client(), kPods);
    for (const Json& pod : pods.value_or({})) {
      if (string_at(pod, {"metadata", "namespace"}) != kNamespace) continue;
      ++out.pods;
      const std::string node = string_at(pod, {"spec", "nodeName"});
      if (node.empty()) continue;
      if (string_at(pod, {"status", "phase"}) == "Running") ++out.running;
      const std::string pool = node.substr(0, node.rfind('-'));
      const std::string slice = string_at(pod, {"metadata", "labels", tpu::kSlice});
      ++pods_by_pool[slice][pool];
      slices_by_pool[pool].insert(slice);
      used_nodes[pool].insert(node);
    }
    for (const auto& [slice, pools] : pods_by_pool) {
      const bool whole = pools.size() == 1 && pools.begin()->second == kHosts;
      ++(whole ? out.whole : out.half_placed);
    }
    for (const auto& [pool, slices] : slices_by_pool) {
      if (slices.size() > 1) ++out.split_pools;
      if (used_nodes[pool].size() < kHosts) ++out.half_used;
    }
    return out;
  }

  /// Creates all slices, and waits until their pods run or the limit is over.
  void run_slices(const std::string& title, const std::string& annotations) {
    const Instant begin = clock_.now();
    const auto seconds = [&] { return std::chrono::duration<double>(clock_.now() - begin).count(); };
    for (int i = 0; i < slices_; ++i) create_slice(fmt::format("train-{:04}", i), annotations);
    fmt::print("{}: {} slices created after {:.1f} s\n", title, slices_, seconds());
    std::fflush(stdout);
    Usage last;
    int max_half_placed = 0;
    double first_whole = 0;
    double all_asked = 0;  // For the last pool.
    const Duration limit = 180s + 12 * std::chrono::seconds(seconds_) + slices_ * 2s;
    const bool all_run = eventually(
        [&] {
          last = usage();
          max_half_placed = std::max(max_half_placed, last.half_placed);
          if (all_asked == 0 && autoscaler_->counts().scale_ups >= slices_) all_asked = seconds();
          if (first_whole == 0 && last.whole > 0) first_whole = seconds();
          return last.running == slices_ * kHosts;
        },
        limit);
    const AutoscalerCounts counts = autoscaler_->counts();
    fmt::print("{}: {} of {} slices run after {:.1f} s (first: {:.1f} s); {} pools brought, each in {} s\n", title,
               last.whole, slices_, seconds(), first_whole, counts.scale_ups, seconds_);
    fmt::print("{}: half-placed slices: {} at most, {} at the end; at the end {} pools half used, {} with two slices\n",
               title, max_half_placed, last.half_placed, last.half_used, last.split_pools);
    fmt::print(
        "{}: last pool asked for after {:.1f} s; longest loop of the autoscaler {:.1f} s; CPU of the operator {:.1f} "
        "s\n",
        title, all_asked, std::chrono::duration<double>(autoscaler_->longest_step()).count(),
        operator_->cpu_seconds().value_or(0));
    std::fflush(stdout);
    EXPECT_TRUE(all_run) << last.running << " of " << slices_ * kHosts << " pods run: deadlock";
    EXPECT_EQ(last.whole, slices_);
    EXPECT_EQ(last.half_placed, 0);
    EXPECT_EQ(last.half_used, 0);
    EXPECT_EQ(last.split_pools, 0);
    // An autoscaler whose view is older than a placement may add one more pool, which it removes later.
    EXPECT_LE(counts.scale_ups, slices_ + 1 + slices_ / 20) << "pools that no slice uses";
  }

  [[nodiscard]] client::Client& client() { return plane_->client(); }

  const int slices_ = number_from("TPUSLICE_AUTOSCALED_SLICES", 12);
  const int seconds_ = number_from("TPUSLICE_AUTOSCALED_SECONDS", 3);
  const RealClock clock_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<AutoscalerThread> autoscaler_;
  std::unique_ptr<OperatorProcess> operator_;
};

TEST_F(AutoscaledSlices, RunWithAffinityAlone) { run_slices("affinity alone", kGatingOff); }

TEST_F(AutoscaledSlices, RunWithScouts) { run_slices("scouts", ""); }

}  // namespace
}  // namespace tpuslice::testing
