#include "cmd/tpu-slice-operator/signals.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "api/base/stacks.h"

namespace tpuslice {
namespace {

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  const sigset_t set = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  waiter_ = std::jthread([this](const std::stop_token& end) {
    const sigset_t signals = awaited_signals();
    // Nothing else ends sigwait().
    // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread): it is blocked, and awaited here
    const std::stop_callback wake(end, [self = pthread_self()] { pthread_kill(self, SIGTERM); });
    int received = 0;
    while (sigwait(&signals, &received) == 0 && !end.stop_requested()) {
      if (received == SIGUSR1) {
        write_stacks(STDERR_FILENO);
        continue;
      }
      if (!stop_.request_stop()) std::_Exit(130);  // A second signal ends the process at once.
    }
  });
}

}  // namespace tpuslice
