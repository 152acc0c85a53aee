// AutoscalerThread: an Autoscaler in real time.
#pragma once

#include <string>
#include <thread>

#include "api/base/mutex.h"
#include "tests/support/autoscaler/autoscaler.h"

namespace tpuslice::testing {

/// Thread-safe, except for start() and stop(), which are called by one thread.
class AutoscalerThread {
 public:
  /// As of Autoscaler.
  AutoscalerThread(client::Reader& reader, client::Writer& writer, AutoscalerOptions options)
      : autoscaler_(reader, writer, clock_, std::move(options)) {}
  ~AutoscalerThread() { stop(); }

  /// Does the first loop, so that the status ConfigMap exists, then starts the thread. Errors: of the first loop.
  Status start();
  /// Nodes and status stay as they are.
  void stop() { thread_ = {}; }
  Status set_capacity(const std::string& group, bool capacity);
  /// Stops, then deletes what it created.
  Status remove_all();
  [[nodiscard]] AutoscalerCounts counts() const;
  [[nodiscard]] Status last_error() const;
  /// The longest time that one loop took.
  [[nodiscard]] Duration longest_step() const;

 private:
  void run(const std::stop_token& stop);

  const RealClock clock_;
  mutable Mutex mutex_;
  Autoscaler autoscaler_ TPUSLICE_GUARDED_BY(mutex_);
  Duration longest_step_ TPUSLICE_GUARDED_BY(mutex_){};
  std::jthread thread_;
};

}  // namespace tpuslice::testing
