#include "tests/e2e/uninstall/uninstall_plane.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/file.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/support/live_pods.h"
#include "tests/support/page_commands.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCommandLimit = 180s;
const ObjectKey kDrainJob{"tpu-slice-system", "tpu-slice-drain"};
const ObjectKey kAccount{"tpu-slice-system", "tpu-slice-operator"};

std::vector<sim::NodePool> tpu_pools(int first, int count) {
  std::vector<sim::NodePool> pools;
  for (int i = first; i < first + count; ++i) {
    sim::NodePool pool;
    pool.name = fmt::format("tpu-{}", i);
    pool.accelerator = "tpu-v6e-slice";
    pool.topology = "4x4";
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = 4;
    pool.chips_per_host = 4;
    pools.push_back(std::move(pool));
  }
  return pools;
}

sim::NodePool cpu_pool() {
  sim::NodePool pool;
  pool.name = "cpu";
  pool.hosts = 3;
  return pool;
}

bool is_running(const Object& pod) { return string_at(pod.json(), {"status", "phase"}) == "Running"; }

}  // namespace

bool has_gate(const Object& pod) {
  const Json& gates = array_at(pod.json(), {"spec", "schedulingGates"});
  return std::ranges::any_of(gates, [](const Json& gate) { return string_at(gate, {"name"}) == tpu::kSliceGate; });
}

void UninstallPlane::SetUp() {
  ControlPlaneOptions options;
  options.pools = tpu_pools(0, kPools);
  options.pools.push_back(cpu_pool());
  pools_ = kPools;
  for (const char* name : {"disaggregatedset.x-k8s.io_disaggregatedsets", "jobset.x-k8s.io_jobsets",
                           "leaderworkerset.x-k8s.io_leaderworkersets", "ray.io_rayclusters", "ray.io_raycronjobs",
                           "ray.io_rayjobs", "ray.io_rayservices"}) {
    options.crds.push_back(fmt::format("deploy/crds/{}.yaml", name));
  }
  auto plane = ControlPlane::start(std::move(options));
  if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
  ASSERT_TRUE(plane.ok()) << plane.error().message();
  plane_ = *std::move(plane);
  const Status installed = install_operator(client());
  ASSERT_TRUE(installed.ok()) << installed.error().message();
  expect_run("kubectl apply --server-side --force-conflicts -f deploy/operator");
  start_operator();
}

void UninstallPlane::start_operator() {
  const auto kubeconfig = plane_->service_account_kubeconfig(kAccount);
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  const auto port = free_port();
  ASSERT_TRUE(port.ok() && register_webhook(client(), *port).ok());
  auto op = OperatorProcess::start(
      {.kubeconfig = *kubeconfig, .log = plane_->dir() + "/operator.log", .webhook_port = *port});
  ASSERT_TRUE(op.ok()) << op.error().message();
  operator_ = *std::move(op);
}

void UninstallPlane::TearDown() {
  operator_.reset();
  if (!HasFailure() || !plane_) return;
  plane_->keep_dir();
  fmt::print("{}\nlogs: {}\n", drain_output_, plane_->dir());
}

CommandOutput UninstallPlane::run(const std::string& command) {
  const std::string log = fmt::format("{}/command-{}.log", plane_->dir(), commands_++);
  auto process = Process::start({.program = "/bin/sh",
                                 .args = {"-c", command},
                                 .log = log,
                                 .env = {{"KUBECONFIG", plane_->kubeconfig()}, {"PATH", path_with_programs()}}});
  if (!process) return {-1, process.error().message()};
  const auto exit_code = (*process)->wait(kCommandLimit);
  return {exit_code.value_or(-1), read_file(log).value_or("")};
}

std::string UninstallPlane::expect_run(const std::string& command) {
  const CommandOutput output = run(command);
  EXPECT_EQ(output.exit_code, 0) << command << "\n" << output.text;
  return output.text;
}

void UninstallPlane::apply(const std::string& manifest) {
  const std::string path = fmt::format("{}/manifest-{}.yaml", plane_->dir(), commands_);
  ASSERT_TRUE(write_private_file(path, manifest).ok());
  expect_run("kubectl apply --server-side -f " + path);
}

CommandOutput UninstallPlane::run_operator(std::vector<std::string> flags, const std::string& kubeconfig) {
  const std::string log = fmt::format("{}/operator-{}.log", plane_->dir(), commands_++);
  flags.push_back("--kubeconfig=" + kubeconfig);
  auto process = Process::start({.program = TPUSLICE_OPERATOR_PROGRAM, .args = std::move(flags), .log = log});
  if (!process) return {-1, process.error().message()};
  const auto exit_code = (*process)->wait(kCommandLimit);
  return {exit_code.value_or(-1), read_file(log).value_or("")};
}

void UninstallPlane::run_from_page(const std::string& command) {
  expect_run(command);
  if (command.find("scale deployment/tpu-slice-operator --replicas=0") != std::string::npos) {
    const Status stopped = operator_->stop();
    EXPECT_TRUE(stopped.ok()) << stopped.error().message();
  }
  if (command.find("kubectl apply") == 0 && command.find("deploy/drain/drain.yaml") != std::string::npos)
    run_drain_job();
}

void UninstallPlane::run_section(const std::string& heading) {
  int run = 0;
  for (const PageCommand& command : commands_of_page(kInstallPage)) {
    if (command.heading != heading || command.block != 0 || !reason_without_test(command).empty()) continue;
    fmt::print("$ {}\n", command.text);
    ASSERT_NO_FATAL_FAILURE(run_from_page(command.text));
    ASSERT_FALSE(HasFailure()) << command.where();
    ++run;
  }
  ASSERT_GT(run, 0) << heading;
}

void UninstallPlane::run_drain_job() {
  const auto job = client().get(kJobs, kDrainJob);
  ASSERT_TRUE(job.ok()) << job.error().message();
  const Json& pod = job->json()["spec"]["template"]["spec"];
  const auto kubeconfig =
      plane_->service_account_kubeconfig({kDrainJob.namespace_name, string_at(pod, {"serviceAccountName"})});
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  const CommandOutput output = run_operator(pod["containers"][0]["args"].get<std::vector<std::string>>(), *kubeconfig);
  drain_output_ = output.text;
  EXPECT_EQ(output.exit_code, 0) << output.text;
  const std::string script = output.exit_code == 0 ? "complete-after" : "fail-after";
  expect_run(fmt::format("kubectl -n {} annotate pods -l app.kubernetes.io/name=tpu-slice-drain sim.tpuslice.dev/{}=0s",
                         kDrainJob.namespace_name, script));
}

void UninstallPlane::add_pools(int count) {
  const Status added = plane_->add_pools(tpu_pools(pools_, count));
  ASSERT_TRUE(added.ok()) << added.error().message();
  pools_ += count;
}

void UninstallPlane::start_workloads() {
  for (const SliceWorkload& workload : workloads_of_every_kind("first")) apply(workload.manifest);
  ASSERT_TRUE(wait_running(kKinds * kHostsOfSlice));
  for (const SliceWorkload& workload : workloads_of_every_kind("second")) apply(workload.manifest);
  apply(jobset_manifest("paused", true));
  const bool waiting = eventually([&] {
    const auto pods = tpu_pods();
    return kKinds * kHostsOfSlice == std::ranges::count_if(pods, has_gate) &&
           client().get(kJobs, {"default", "paused-slice-0"}).ok();
  });
  ASSERT_TRUE(waiting);
}

std::vector<Object> UninstallPlane::tpu_pods() { return live_pods(client(), "default", std::string(tpu::kSlice)); }

std::vector<Object> UninstallPlane::tpu_pods_of(const std::string& workload) {
  auto pods = tpu_pods();
  std::erase_if(pods, [&](const Object& pod) { return !pod.name().starts_with(workload + "-"); });
  return pods;
}

std::map<std::string, std::string> UninstallPlane::running_pods() {
  std::map<std::string, std::string> found;
  for (const Object& pod : tpu_pods()) {
    if (!is_running(pod)) continue;
    const Json& statuses = array_at(pod.json(), {"status", "containerStatuses"});
    found[pod.name()] = fmt::format("{} {}", pod.uid(), int_at(statuses.at(0), {"restartCount"}));
  }
  return found;
}

std::map<std::string, std::set<std::string>> UninstallPlane::pools_of_slices() {
  std::map<std::string, std::set<std::string>> pools;
  for (const Object& pod : tpu_pods()) {
    const std::string node = string_at(pod.json(), {"spec", "nodeName"});
    pools[pod.label(tpu::kSlice)].insert(node.substr(0, node.rfind('-')));
  }
  return pools;
}

bool UninstallPlane::wait_running(int pods) {
  // kwok starts pods one after the other, and shares two cores with ten other control planes.
  return eventually(
      [&] {
        const auto all = tpu_pods();
        return pods == std::ranges::count_if(all, is_running);
      },
      std::chrono::minutes(3));
}

}  // namespace tpuslice::testing
