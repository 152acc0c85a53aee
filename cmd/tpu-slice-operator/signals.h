// StopOnSignal: turns SIGTERM and SIGINT into a stop request, and SIGUSR1 into the stacks of all threads.
#pragma once

#include <stop_token>
#include <thread>

namespace tpuslice {

/// Create it before any other thread: it blocks the signals, which threads inherit. A second signal ends the process.
/// SIGUSR1 writes the stacks of all threads to standard error.
class StopOnSignal {
 public:
  StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  /// Does what a signal does.
  void request_stop() { stop_.request_stop(); }

 private:
  std::stop_source stop_;
  std::jthread waiter_;
};

}  // namespace tpuslice
