#include "cmd/tpu-slice-sim/options.h"

#include <sstream>

#include <CLI/CLI.hpp>

namespace tpuslice {

Result<SimCommandLine> parse_sim_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "Runs tpu-slice-operator inside a simulated Kubernetes cluster with TPU node pools, applies manifests, prints "
      "what "
      "happens, and lets kubectl look.",
      "tpu-slice-sim");
  SimCommandLine result;
  SimOptions& options = result.options;
  app.set_version_flag("--version", TPUSLICE_VERSION);
  CLI::Option* const pools =
      app.add_option("--pools", options.pools,
                     "Node pools (YAML, see docs/simulator.md). Default: two v6e 4x4, one v5e 4x8, one of CPU nodes.");
  app.add_option("--nodes", options.nodes,
                 "Nodes of a real cluster instead, as `kubectl get nodes -o json` prints them.")
      ->excludes(pools);
  app.add_option("--kubeconfig", options.kubeconfig, "Where to write the kubeconfig. Default: a temporary file.");
  app.add_option("--listen", options.listen, "Address of the API server. Default: 127.0.0.1 and a free port.");
  app.add_flag("--serve", options.serve, "Go on when things have settled, until interrupted.");
  app.add_option("--then", options.then, "Shell command to run once things have settled, with KUBECONFIG set.");
  app.add_flag("--no-operator", options.no_operator, "Only the cluster; run an operator of your own against it.");
  app.add_option("--operator-kubeconfig", options.operator_kubeconfig,
                 "Where to write a kubeconfig of the operator's service account, for --no-operator.");
  app.add_option("--webhook-port", options.webhook_port,
                 "With --no-operator: port of this machine where your operator serves the webhook.")
      ->check(CLI::Range(1, 65535));
  app.add_option("--settle-timeout", options.settle_timeout_seconds,
                 "Seconds after which unsettled manifests are a failure. Default: 60")
      ->check(CLI::Range(1, 3600));
  app.add_option("--log-level", options.log_level, "Of the operator: debug, info, warn or error. Default: warn")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.add_flag("-v,--verbose", options.verbose, "A line for each pod of a slice, and for all events.");
  app.add_option("manifests", options.manifests, "Manifests to apply at the start, or lists that kubectl printed.")
      ->check(CLI::ExistingFile);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream out;
    std::ostringstream err;
    app.exit(success, out, err);
    result.output = out.str();
  } catch (const CLI::ParseError& error) {
    return Error::invalid_argument("{}; see --help", error.what());
  }
  return result;
}

}  // namespace tpuslice
