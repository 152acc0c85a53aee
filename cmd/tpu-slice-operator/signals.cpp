#include "cmd/tpu-slice-operator/signals.h"

#include <csignal>
#include <cstdlib>
#include <ctime>

namespace tpuslice {
namespace {

/// How long the waiter takes to notice that it is not needed any more.
constexpr timespec kPoll{0, 100'000'000};

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
    while (!end.stop_requested()) {
      if (sigtimedwait(&signals, nullptr, &kPoll) < 0) continue;
      if (!stop_.request_stop()) std::_Exit(130);  // asked twice: no more patience
    }
  });
}

}  // namespace tpuslice
