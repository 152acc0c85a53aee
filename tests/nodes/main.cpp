// tpu-slice-nodes: runs a Kubernetes cluster with real kubelets until it is interrupted; started by run.sh.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/signals.h"
#include "tests/nodes/node_cluster.h"
#include "tests/support/load_balancer.h"

namespace tpuslice::testing {
namespace {

constexpr int kUsageError = 2;
constexpr int kSkipped = 77;  ///< Exit status for skipped tests.
constexpr int kOtherNodes = 2;

struct CommandLine {
  NodeClusterOptions cluster;
  int nodes = 6;
  std::string pools;
  std::vector<std::string> archives;
  std::string kubeconfig_out;
};

void add_options(CLI::App& app, CommandLine& line) {
  app.add_option("--nodes", line.nodes, "Number of nodes, of which two are without TPUs. Default: 6")
      ->check(CLI::Range(kOtherNodes, 100));
  app.add_option("--pools", line.pools, "Node pools instead (YAML, see docs/simulator.md).")->check(CLI::ExistingFile);
  app.add_option("--image", line.cluster.images, "Image of tests/nodes/images, on all nodes. Default: busybox");
  app.add_option("--import", line.archives, "Archive of images, added to all nodes.")->check(CLI::ExistingFile);
  app.add_option("--disk", line.cluster.disk, "Size of the disk of a node, like 512m. Default: that of this machine");
  app.add_option("--kubeconfig-out", line.kubeconfig_out, "Path for a copy of the administrator's kubeconfig.");
}

/// v6e slices of 4 chips a host, as large as they fit, and a pool without TPUs.
Json pools_for(int nodes) {
  Json pools = Json::array({{{"name", "cpu"}, {"hosts", kOtherNodes}}});
  for (int left = nodes - kOtherNodes; left > 0;) {
    const int hosts = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    pools.push_back({{"name", fmt::format("v6e-{}", pools.size())},
                     {"accelerator", "tpu-v6e-slice"},
                     {"machineType", "ct6e-standard-4t"},
                     {"topology", hosts == 4   ? "4x4"
                                  : hosts == 2 ? "2x4"
                                               : "2x2"}});
    left -= hosts;
  }
  return {{"pools", pools}};
}

Status read_pools(CommandLine& line) {
  Json config = pools_for(line.nodes);
  if (!line.pools.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_file(line.pools));
    ASSIGN_OR_RETURN(config, parse_yaml(text));
  }
  ASSIGN_OR_RETURN(line.cluster.pools, sim::parse_node_pools(config));
  return {};
}

/// Makes the API server reachable at a port of 127.0.0.1 in the network namespace that run.sh was started in.
Result<std::unique_ptr<LoadBalancer>> publish(NodeCluster& cluster, const std::string& kubeconfig_out) {
  const char* const outer =
      std::getenv("TPUSLICE_OUTER_NETWORK");  // NOLINT(concurrency-mt-unsafe): no thread sets variables
  if (outer == nullptr) return Error::not_found("TPUSLICE_OUTER_NETWORK: not set");
  ASSIGN_OR_RETURN(auto relay, LoadBalancer::start(std::atoi(outer)));  // NOLINT(cert-err34-c): of isolate.sh
  const std::string& server = cluster.plane().server();
  const std::size_t colon = server.rfind(':') + 1;
  relay->set_backends({std::stoi(server.substr(colon))});
  ASSIGN_OR_RETURN(std::string text, read_file(cluster.kubeconfig()));
  text.replace(text.find(server), server.size(), server.substr(0, colon) + std::to_string(relay->port()));
  RETURN_IF_ERROR(write_private_file(kubeconfig_out, text));
  return relay;
}

Result<int> run(CommandLine line, StopOnSignal& signals) {
  RETURN_IF_ERROR(read_pools(line));
  const auto cluster = NodeCluster::start(line.cluster);
  if (!cluster && cluster.error().code() == ErrorCode::kNotFound) {
    fmt::print(stderr, "{}\n", cluster.error().message());
    return kSkipped;
  }
  if (!cluster) return cluster.error();
  for (const std::string& archive : line.archives) RETURN_IF_ERROR((*cluster)->import_image(archive));
  if (line.kubeconfig_out.empty()) line.kubeconfig_out = (*cluster)->plane().dir() + "/outer.kubeconfig";
  ASSIGN_OR_RETURN(const auto relay, publish(**cluster, line.kubeconfig_out));
  fmt::print("ready: {} nodes in {:.1f} s; export KUBECONFIG={}\n", (*cluster)->nodes().size(),
             std::chrono::duration<double>((*cluster)->start_time()).count(), line.kubeconfig_out);
  std::fflush(stdout);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any stopped;
  stopped.wait(lock, signals.token(), [] { return false; });
  return 0;
}

int main_with_result(int argc, const char* const* argv) {
  CLI::App app("Runs a Kubernetes cluster with real kubelets until it is interrupted.", "tpu-slice-nodes");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "tpu-slice-nodes: {}; see --help\n", error.what());
    return kUsageError;
  }
  StopOnSignal signals;
  const auto status = run(std::move(line), signals);
  if (!status) fmt::print(stderr, "tpu-slice-nodes: {}\n", status.error().message());
  return status ? *status : 1;
}

}  // namespace
}  // namespace tpuslice::testing

int main(int argc, char** argv) { return tpuslice::testing::main_with_result(argc, argv); }
