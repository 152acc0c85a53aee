// BindingWatch: sees from outside which pods get a node, and when.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "tests/bench/watch_stream.h"

namespace tpuslice::bench {

/// What has become of a pod.
struct PodFate {
  std::string node;      ///< Empty: none yet.
  Instant bound{};       ///< When it got its node; with `node` only.
  bool leaving = false;  ///< Is being deleted, or has been.
  bool gone = false;     ///< Has been.
};

/// Watches all pods of the cluster. Thread-safe.
class BindingWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<BindingWatch>> start(const client::ClientConfig& config,
                                                     const std::string& resource_version);

  /// Waits until so many pods of that namespace have a node or are leaving, so that nothing more will happen to them.
  /// Returns how many are, fewer than `count` if that takes longer than `limit`. Errors: Unavailable once the watch has
  /// ended.
  Result<std::size_t> wait_settled(const std::string& namespace_name, std::size_t count, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);
  /// Until all pods that were seen in that namespace are gone. Errors: also Timeout, saying how far it got.
  Status wait_gone(const std::string& namespace_name, Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// By name.
  [[nodiscard]] std::map<std::string, PodFate> pods(const std::string& namespace_name) const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Seen {
    std::map<std::string, PodFate> pods;
    std::size_t settled = 0;
    std::size_t gone = 0;
  };
  BindingWatch() = default;
  void take(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void end() TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] const Seen& seen_in(const std::string& namespace_name) const TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::unordered_map<std::string, Seen> seen_ TPUSLICE_GUARDED_BY(mutex_);
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WatchStream> stream_;  ///< Ends first.
};

}  // namespace tpuslice::bench
