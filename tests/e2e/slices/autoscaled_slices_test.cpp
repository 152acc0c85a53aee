// Slices on node pools that do not exist yet, on a real scheduler, with an autoscaler that adds whole pools: the
// operator's scouts beside affinity alone, with the time until all slices run; and its ProvisioningRequests.
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
#include "tests/e2e/slices/job_manifest.h"
#include "tests/e2e/slices/provisioning_plane.h"
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
    // Each node renews its Lease twice in this time: at most 50 writes a second.
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
    create(kServices, service_of_job(name, kNamespace));
    create(kJobs, job_of_slice(name, kNamespace, {.hosts = kHosts, .annotations = annotations}));
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

// ProvisioningRequests.

constexpr const char* kCheckCapacity = "check-capacity.autoscaling.x-k8s.io";
constexpr const char* kAtomicScaleUp = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
constexpr const char* kQueuedProvisioning = "queued-provisioning.gke.io";

TEST_F(ProvisionedSlices, StartWholeInThePoolsOfAnAtomicScaleUp) {
  AutoscalerOptions options;
  for (int i = 0; i < 4; ++i) options.groups.push_back(node_group(a_pool(fmt::format("atomic-{}", i))));
  start(std::move(options), kAtomicScaleUp, {"--max-scale-ups=2"});
  std::size_t most = 0;
  // One after the other: a slice that gets the nodes of another one's request leaves that waiting for the request's
  // time-out.
  for (const char* job : {"a", "b", "c"}) {
    create_job(job);
    const auto asks_or_runs = [&] {
      most = std::max(most, requests().size());
      return !waiting_reason(job).empty() || !pool_of(job).empty();
    };
    EXPECT_TRUE(eventually(asks_or_runs, 30s)) << job;
  }
  std::set<std::string> pools;
  const bool all_run = eventually(
      [&] {
        most = std::max(most, requests().size());
        pools.clear();
        for (const char* job : {"a", "b", "c"}) {
          if (std::string pool = pool_of(job); !pool.empty()) pools.insert(std::move(pool));
        }
        return pools.size() == 3;
      },
      120s);
  EXPECT_TRUE(all_run) << pools.size() << " of 3 slices run; a waits: " << waiting_reason("a");
  EXPECT_GE(most, 1U);
  EXPECT_LE(most, 2U) << "--max-scale-ups";
  expect_nothing_asked("after all slices were placed");
  EXPECT_EQ(autoscaler().counts().scale_ups, 3);
  EXPECT_EQ(op().metric("tpuslice_scale_ups_total").value_or(0), 3) << "requests";
}

TEST_F(ProvisionedSlices, WaitForCapacityThatExistsIfThatIsTheClass) {
  start({.groups = {node_group(a_pool("unused"))}}, kCheckCapacity);
  create_job("a");
  expect_condition("Provisioned", "False");
  expect_reason("a", "asks for nodes: Capacity is not found");
  EXPECT_EQ(autoscaler().counts().scale_ups, 0) << "this class adds no nodes";
  ASSERT_TRUE(plane().add_pools({a_pool("static")}).ok());
  EXPECT_EQ(expect_running("a"), "static");
  expect_nothing_asked("after the slice was placed");
}

TEST_F(ProvisionedSlices, StartOnQueuedNodesThatTheirPodsTolerate) {
  start({.groups = {queued_node_group(a_pool("queued-a")), queued_node_group(a_pool("queued-b"))}},
        kQueuedProvisioning);
  ASSERT_TRUE(autoscaler().set_capacity("queued-a", false).ok());
  create_job("a", kToleratesQueued);
  expect_condition("Accepted", "True");
  expect_reason("a", "asks for nodes");
  EXPECT_EQ(bound_pods("a"), 0);
  ASSERT_TRUE(autoscaler().set_capacity("queued-a", true).ok());
  EXPECT_EQ(expect_running("a"), "queued-a");
  expect_nothing_asked("after the slice was placed");

  create_job("b");
  expect_reason("b", "have the taint cloud.google.com/gke-queued=true:NoSchedule, which the pods do not tolerate");
  expect_nothing_asked("for pods that do not tolerate queued nodes");
}

TEST_F(ProvisionedSlices, TakeTheirRequestsWithThem) {
  start({.groups = {queued_node_group(a_pool("queued"))}}, kQueuedProvisioning);
  ASSERT_TRUE(autoscaler().set_capacity("queued", false).ok());
  create_job("a", kToleratesQueued);
  expect_condition("Accepted", "True");
  delete_job("a");
  expect_nothing_asked("after the job was deleted");
}

TEST_F(ProvisionedSlices, AskAgainAfterFailedAndBookingExpired) {
  AutoscalerOptions options{.groups = {node_group(a_pool("late-0")), node_group(a_pool("late-1"))}, .backoff = 10min};
  for (NodeGroup& group : options.groups) group.capacity = false;
  options.request_booking = 4s;
  options.request_give_up = 5s;
  start(std::move(options), kAtomicScaleUp, {"--scale-up-timeout=60"});
  for (const char* job : {"a", "b"}) create_job(job);
  expect_reason("a", "has ended (BookingExpired)");
  EXPECT_EQ(autoscaler().counts().failed_scale_ups, 2) << "requested, but the nodes did not come";
  create_job("c");
  expect_reason("c", "has ended (Failed)");
  delete_job("b");
  for (const char* group : {"late-0", "late-1"}) ASSERT_TRUE(autoscaler().set_capacity(group, true).ok());
  EXPECT_EQ(bound_pods("a") + bound_pods("c"), 0);
  EXPECT_NE(expect_running("a", 180s), expect_running("c", 180s));
  expect_nothing_asked("after all slices were placed");
}

}  // namespace
}  // namespace tpuslice::testing
