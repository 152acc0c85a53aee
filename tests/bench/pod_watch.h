// PodWatch: the outside watcher. Notes when each pod event arrives, and nothing else.
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

/// Watches all pods of the cluster. Thread-safe.
class PodWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<PodWatch>> start(const client::ClientConfig& config,
                                                 const std::string& resource_version);

  /// So far in this namespace.
  [[nodiscard]] std::size_t added(const std::string& namespace_name) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t deleted(const std::string& namespace_name) const TPUSLICE_EXCLUDES(mutex_);
  /// When the `count`-th pod of that namespace was ADDED; waits for it.
  /// Errors: Timeout, saying how far it got; Unavailable once the watch has ended.
  Result<Instant> wait_added(const std::string& namespace_name, std::size_t count, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);
  /// Errors: as wait_added.
  Status wait_deleted(const std::string& namespace_name, std::size_t count, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Seen {
    std::vector<Instant> added;
    std::size_t deleted = 0;
  };
  PodWatch() = default;
  void take(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void end() TPUSLICE_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::unordered_map<std::string, Seen> seen_ TPUSLICE_GUARDED_BY(mutex_);
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WatchStream> stream_;  ///< Ends first.
};

}  // namespace tpuslice::bench
