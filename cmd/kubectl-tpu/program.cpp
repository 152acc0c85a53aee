#include "cmd/kubectl-tpu/program.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "api/base/strings.h"
#include "api/client/subprocess.h"

namespace tpuslice::plugin {
namespace {

constexpr Duration kCaptureLimit = std::chrono::seconds(30);

}  // namespace

Result<std::string> capture_program(const std::vector<std::string>& command) {
  ASSIGN_OR_RETURN(const client::SubprocessOutput output,
                   client::run_subprocess({.command = command.front(),
                                           .args = {command.begin() + 1, command.end()},
                                           .env = {},
                                           .deadline = kCaptureLimit}));
  if (output.exit_code == 0) return output.out;
  return Error::unavailable("{}: exit code {}: {}", command.front(), output.exit_code, trimmed(output.err));
}

Result<int> run_program(std::vector<std::string> command, const std::stop_token& stop) {
  const std::string name = command.front();
  std::vector<char*> arguments = c_strings(command);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Signals are blocked in this process (signals.h), and SIGPIPE is ignored; the program has them as usual.
  sigset_t none;
  sigemptyset(&none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, name.c_str(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed == ENOENT) return Error::not_found("{}: no such program in PATH", name);
  if (failed != 0)
    return Error::unavailable("{}: cannot be started: {}", name, std::generic_category().message(failed));
  int status = 0;
  {
    const std::stop_callback on_stop(stop, [child] { kill(child, SIGTERM); });
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tpuslice::plugin
