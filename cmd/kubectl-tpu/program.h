// Runs another program in the foreground, as a shell does.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::plugin {

/// Runs `command` (looked up in PATH) with the standard streams of this process, and waits for it. It gets SIGTERM when
/// `stop` is requested. Returns its exit code, 128 + signal for one that was killed. Errors: NotFound if there is no
/// such program; Unavailable if the system cannot start it.
[[nodiscard]] Result<int> run_program(std::vector<std::string> command, const std::stop_token& stop);

}  // namespace tpuslice::plugin
