#include "cmd/tpu-slice-sim/command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include "api/base/environment.h"
#include "api/base/strings.h"

namespace tpuslice {

Result<int> run_shell_command(const std::string& command, const std::string& kubeconfig) {
  std::vector<std::string> environment = environment_with({{"KUBECONFIG", kubeconfig}});
  std::vector<std::string> arguments = {"sh", "-c", command};

  // The child gets the signals that this program blocks for itself.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/bin/sh", nullptr, &attributes, c_strings(arguments).data(), c_strings(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Error::unavailable("cannot run \"{}\": {}", command, std::generic_category().message(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      return Error::unavailable("cannot wait for \"{}\": {}", command, std::generic_category().message(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tpuslice
