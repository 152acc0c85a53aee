// Command lines of kubectl, which some commands run.
#pragma once

#include <string>
#include <vector>

#include "cmd/kubectl-tpu/context.h"

namespace tpuslice::plugin {

/// "kubectl VERB" with the user's kubeconfig and context.
[[nodiscard]] inline std::vector<std::string> kubectl_command(const GlobalOptions& options, const std::string& verb) {
  std::vector<std::string> command = {"kubectl", verb};
  if (!options.kubeconfig.empty()) command.push_back("--kubeconfig=" + options.kubeconfig);
  if (!options.context.empty()) command.push_back("--context=" + options.context);
  return command;
}

}  // namespace tpuslice::plugin
