// tpu-slice-controlplane: runs a Kubernetes control plane as processes until it is interrupted.
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/signals.h"
#include "tests/support/control_plane.h"

namespace tpuslice::testing {
namespace {

constexpr int kUsageError = 2;
constexpr int kSkipped = 77;  ///< Exit status for skipped tests.

struct CommandLine {
  ControlPlaneOptions plane;
  std::string pools;
  std::string kubeconfig_out;
  bool no_pools = false;
};

void add_options(CLI::App& app, CommandLine& line) {
  ControlPlaneOptions& plane = line.plane;
  app.add_option("--dir", plane.dir, "Directory for data and logs, new or empty. Default: a temporary one.");
  app.add_flag("--keep", plane.keep_dir, "Keep the directory.");
  app.add_option("--pools", line.pools, "Node pools (YAML, see docs/simulator.md). Default: those of tpu-slice-sim.")
      ->check(CLI::ExistingFile);
  app.add_flag("--no-pools", line.no_pools, "Start without nodes.");
  app.add_option("--crds", plane.crds, "YAML files with CRDs, applied before the controllers start.")
      ->check(CLI::ExistingFile);
  app.add_option("--kubeconfig-out", line.kubeconfig_out, "Path for a copy of the administrator's kubeconfig.");
  app.add_flag("!--no-controllers", plane.controllers, "Do not start kube-controller-manager.");
  app.add_flag("!--no-scheduler", plane.scheduler, "Do not start kube-scheduler.");
  app.add_flag("!--no-kwok", plane.kwok, "Do not start kwok: nodes are Ready at once, pods do not start.");
  app.add_flag("!--no-priority-and-fairness", plane.priority_and_fairness, "Disable API priority and fairness.");
  app.add_option("--qps", plane.client_qps, "Requests per second of controllers and scheduler. Default: 500");
  app.add_option_function<int>(
         "--node-grace", [&plane](const int& seconds) { plane.node_grace = std::chrono::seconds(seconds); },
         "Seconds without heartbeat after which a node is lost. Default: 40")
      ->check(CLI::Range(4, 3600));
  app.add_option("--etcd-flag", plane.etcd_flags, "Flag of etcd: --etcd-flag=--name=value");
  app.add_option("--apiserver-flag", plane.apiserver_flags, "Flag of kube-apiserver.");
  app.add_option("--controller-flag", plane.controller_flags, "Flag of kube-controller-manager.");
  app.add_option("--scheduler-flag", plane.scheduler_flags, "Flag of kube-scheduler.");
}

Status read_pools(CommandLine& line) {
  if (line.no_pools) return {};
  line.plane.pools = sim::default_node_pools();
  if (line.pools.empty()) return {};
  ASSIGN_OR_RETURN(const std::string text, read_file(line.pools));
  ASSIGN_OR_RETURN(const Json config, parse_yaml(text));
  ASSIGN_OR_RETURN(line.plane.pools, sim::parse_node_pools(config));
  return {};
}

std::string server_version(ControlPlane& plane) {
  http::Request request;
  request.target = "/version";
  const auto response = plane.client().raw(std::move(request));
  const auto version = response ? parse_json(response->body) : response.error();
  return version ? string_at(*version, {"gitVersion"}) : "(version unknown)";
}

Result<int> run(CommandLine line, StopOnSignal& signals) {
  RETURN_IF_ERROR(read_pools(line));
  auto plane = ControlPlane::start(line.plane);
  if (!plane && plane.error().code() == ErrorCode::kNotFound) {
    fmt::print(stderr, "{}\n", plane.error().message());
    return kSkipped;
  }
  if (!plane) return plane.error();
  if (!line.kubeconfig_out.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_file((*plane)->kubeconfig()));
    RETURN_IF_ERROR(write_private_file(line.kubeconfig_out, text));
  }
  const auto seconds = std::chrono::duration<double>((*plane)->start_time()).count();
  fmt::print("ready: Kubernetes {} on {} in {:.1f} s; export KUBECONFIG={}\n", server_version(**plane),
             (*plane)->server(), seconds, line.kubeconfig_out.empty() ? (*plane)->kubeconfig() : line.kubeconfig_out);
  std::fflush(stdout);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any stopped;
  stopped.wait(lock, signals.token(), [] { return false; });
  return 0;
}

int main_with_result(int argc, const char* const* argv) {
  CLI::App app("Runs etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok until it is interrupted.",
               "tpu-slice-controlplane");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "tpu-slice-controlplane: {}; see --help\n", error.what());
    return kUsageError;
  }
  StopOnSignal signals;
  const auto status = run(std::move(line), signals);
  if (!status) fmt::print(stderr, "tpu-slice-controlplane: {}\n", status.error().message());
  return status ? *status : 1;
}

}  // namespace
}  // namespace tpuslice::testing

int main(int argc, char** argv) { return tpuslice::testing::main_with_result(argc, argv); }
