// Runs another program and waits for it, with a deadline. No shell. For credential plugins, and for programs of users.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::client {

struct Subprocess {
  std::string command;  ///< Looked up in PATH unless it has a '/'.
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< Added to our own; the last of a name counts.
  Duration deadline = std::chrono::seconds(60);
};

struct SubprocessOutput {
  int exit_code = 0;  ///< 128 + signal for one that was killed.
  std::string out;
  std::string err;  ///< What fits in 4 KiB.
};

/// Errors: NotFound if there is no such program; Unavailable if the system cannot start it; Timeout, and its process
/// group is killed; Internal if it prints more than 1 MiB.
[[nodiscard]] Result<SubprocessOutput> run_subprocess(const Subprocess& process);

}  // namespace tpuslice::client
