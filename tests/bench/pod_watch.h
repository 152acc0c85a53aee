// PodWatch: records when the watch events of pods arrive.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "tests/bench/watch_stream.h"

namespace tpuslice::bench {

/// Watches all pods of the cluster. Asks for their metadata only: the API server would otherwise encode each pod in
/// JSON for this watch, and an operator that watches JSON would get that for nothing. Thread-safe.
class PodWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<PodWatch>> start(const client::ClientConfig& config,
                                                 const std::string& resource_version);

  /// Number of events in this namespace.
  [[nodiscard]] std::size_t added(const std::string& namespace_name) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t deleted(const std::string& namespace_name) const TPUSLICE_EXCLUDES(mutex_);
  /// Waits for the `count`-th ADDED event of that namespace and returns its time.
  /// Errors: Timeout with the progress; Unavailable if the watch ended.
  Result<Instant> wait_added(const std::string& namespace_name, std::size_t count, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);
  /// Errors: as wait_added.
  Status wait_deleted(const std::string& namespace_name, std::size_t count, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Observed {
    std::vector<Instant> added;
    std::size_t deleted = 0;
  };
  PodWatch() = default;
  void on_event(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_end() TPUSLICE_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::unordered_map<std::string, Observed> observed_ TPUSLICE_GUARDED_BY(mutex_);
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WatchStream> stream_;  ///< Destroyed first.
};

}  // namespace tpuslice::bench
