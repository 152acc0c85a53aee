// Options of tpu-slice-sim.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice {

struct SimOptions {
  std::string pools;                   ///< YAML file of node pools; empty: the default ones.
  std::string nodes;                   ///< File with a list of nodes instead of pools (saved_objects.h).
  std::vector<std::string> manifests;  ///< Applied at the start, in order.
  std::string kubeconfig;              ///< Output path of the kubeconfig; empty: a temporary file.
  std::string listen = "127.0.0.1:0";  ///< The simulated API server.
  bool serve = false;                  ///< Keep running after settling, until interrupted.
  std::string then;                    ///< Shell command to run once settled, with KUBECONFIG set.
  bool no_operator = false;            ///< Do not start an operator; run your own.
  std::string operator_kubeconfig;     ///< Output path of a kubeconfig for the operator's service account.
  int webhook_port = 0;                ///< Port of the webhook of an operator of your own; 0: none.
  int settle_timeout_seconds = 60;     ///< Fail if the cluster has not settled by then.
  std::string log_level = "warn";
  bool verbose = false;  ///< The timeline has lines for each pod of a slice, and all events.
};

struct SimCommandLine {
  SimOptions options;
  std::string output;  ///< The text to print and exit with, for --help and --version.
};

/// Errors: InvalidArgument naming the flag.
[[nodiscard]] Result<SimCommandLine> parse_sim_command_line(int argc, const char* const* argv);

}  // namespace tpuslice
