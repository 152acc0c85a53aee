// Options of tpu-slice-sim.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice {

struct SimOptions {
  std::string pools;                   ///< YAML file of node pools; empty: the default ones.
  std::vector<std::string> manifests;  ///< Applied at the start, in order.
  std::string kubeconfig;              ///< Where to write it; empty: a temporary file.
  std::string listen = "127.0.0.1:0";  ///< The simulated API server.
  bool serve = false;                  ///< Go on after things settled, until interrupted.
  std::string then;                    ///< Shell command to run once settled, with KUBECONFIG set.
  bool no_operator = false;            ///< Leave the cluster without one; run your own.
  std::string operator_kubeconfig;     ///< Where to write a kubeconfig of the operator's service account.
  int webhook_port = 0;                ///< Where an operator of your own serves the webhook; 0: nowhere.
  int settle_timeout_seconds = 60;     ///< Give up when things have not settled by then.
  std::string log_level = "info";
};

struct SimCommandLine {
  SimOptions options;
  std::string output;  ///< The text to print and exit with, for --help and --version.
};

/// Errors: InvalidArgument naming the flag.
[[nodiscard]] Result<SimCommandLine> parse_sim_command_line(int argc, const char* const* argv);

}  // namespace tpuslice
