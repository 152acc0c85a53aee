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

/// Runs `command` without standard input and returns its standard output. Errors: as run_program(); Unavailable, with
/// its standard error, if it fails; Timeout after 30 s.
[[nodiscard]] Result<std::string> capture_program(const std::vector<std::string>& command);

}  // namespace tpuslice::plugin
