#include "tests/e2e/plugin/plugin_plane.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "api/base/file.h"
#include "tests/support/eventually.h"
#include "tests/support/live_pods.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kWaitLimit = 120s;

int manifest_number() {
  static int number = 0;
  return number++;
}

int running_pods(client::Client& client, const std::string& namespace_name) {
  const auto pods = live_pods(client, namespace_name, std::string(tpu::kSlice));
  return static_cast<int>(std::ranges::count_if(pods, [](const Object& pod) {
    return string_at(pod.json(), {"status", "phase"}) == "Running";
  }));
}

}  // namespace

void PluginPlane::SetUp() {
  InstallPlane::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  expect_run("kubectl apply --server-side -f deploy/install.yaml");
  ASSERT_NO_FATAL_FAILURE(start_operator(kOperatorNamespace, true));
}

void PluginPlane::TearDown() {
  if (!IsSkipped() && !HasFailure()) {
    for (const std::string& each : namespaces_) {
      expect_run(
          fmt::format("kubectl -n {} delete rayservices,rayjobs,rayclusters,jobsets,disaggregatedsets,lws,"
                      "statefulsets,jobs --all --timeout=100s && kubectl delete namespace {}",
                      each, each));
    }
    stop_operator();
    restore_webhooks();
    expect_run("kubectl delete --ignore-not-found -f deploy/install.yaml");
  }
  InstallPlane::TearDown();
}

void PluginPlane::create_namespace(const std::string& name) {
  expect_run("kubectl create namespace " + name);
  namespaces_.push_back(name);
}

void PluginPlane::apply_in(const std::string& namespace_name, const std::string& manifest) {
  const std::string path = fmt::format("{}/of-plugin-{}.yaml", plane().dir(), manifest_number());
  ASSERT_TRUE(write_private_file(path, manifest).ok());
  expect_run(fmt::format("kubectl -n {} apply --server-side -f {}", namespace_name, path));
}

void PluginPlane::wait_running(const std::string& namespace_name, int pods) {
  ASSERT_TRUE(eventually([&] { return running_pods(client(), namespace_name) == pods; }, kWaitLimit))
      << run(fmt::format("kubectl -n {} get pods -o wide", namespace_name)).text;
}

void PluginPlane::wait_until(const std::string& command) {
  CommandOutput last;
  const auto succeeds = [&] {
    last = run(command);
    return last.exit_code == 0;
  };
  ASSERT_TRUE(eventually(succeeds, kWaitLimit)) << command << "\n" << last.text;
}

CommandOutput PluginPlane::tpu(const std::string& arguments, const std::string& kubeconfig) {
  const std::string variable = kubeconfig.empty() ? "" : fmt::format("KUBECONFIG={} ", kubeconfig);
  return run(variable + "kubectl tpu " + arguments);
}

void PluginPlane::expect_tpu(const std::string& arguments, int exit_code, const std::vector<std::string>& patterns) {
  const CommandOutput output = tpu(arguments);
  EXPECT_EQ(output.exit_code, exit_code) << "kubectl tpu " << arguments << "\n" << output.text;
  for (const std::string& pattern : patterns) {
    EXPECT_TRUE(RE2::PartialMatch(output.text, "(?m)" + pattern)) << "kubectl tpu " << arguments << "\n"
                                                                  << output.text << "expected a match of: " << pattern;
  }
}

sim::NodePool pool_named(const std::string& name) {
  return {.name = name,
          .accelerator = "tpu-v6e-slice",
          .topology = "4x4",
          .machine_type = "ct6e-standard-4t",
          .hosts = 4,
          .chips_per_host = 4};
}

}  // namespace tpuslice::testing
