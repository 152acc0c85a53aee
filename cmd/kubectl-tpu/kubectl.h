// Command lines of kubectl, which some commands run.
#pragma once

#include <string>
#include <string_view>
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

/// A word of a shell: quoted if it has to be.
[[nodiscard]] std::string shell_word(std::string_view text);

/// " --kubeconfig=... --context=...", as words of a shell: those that the user gave, for commands that are printed.
[[nodiscard]] std::string connection_arguments(const GlobalOptions& options);

}  // namespace tpuslice::plugin
