#include "cmd/tpu-slice-operator/signals.h"

#include <csignal>
#include <cstdlib>

namespace tpuslice {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  waiter_ = std::jthread([this](const std::stop_token& end) {
    const sigset_t signals = stop_signals();
    // Nothing else ends sigwait().
    const std::stop_callback wake(end, [self = pthread_self()] { pthread_kill(self, SIGTERM); });
    int received = 0;
    while (sigwait(&signals, &received) == 0 && !end.stop_requested()) {
      if (!stop_.request_stop()) std::_Exit(130);  // A second signal ends the process at once.
    }
  });
}

}  // namespace tpuslice
