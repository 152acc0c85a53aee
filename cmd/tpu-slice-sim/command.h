// Runs the user's shell command against the simulated cluster.
#pragma once

#include <string>

#include "api/base/result.h"

namespace tpuslice {

/// Runs `command` by /bin/sh with KUBECONFIG set and waits for it. Returns its exit status (128 + signal when killed).
///
/// Errors: Unavailable if the shell cannot be started.
[[nodiscard]] Result<int> run_shell_command(const std::string& command, const std::string& kubeconfig);

}  // namespace tpuslice
