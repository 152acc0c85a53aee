// BindingWatch: records when pods are bound to nodes.
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

/// The observed state of a pod.
struct ObservedPod {
  std::string node;          ///< Empty: not bound.
  Instant bound{};           ///< Time of its binding; valid if it is bound.
  bool terminating = false;  ///< Has a deletion timestamp, or was deleted.
  bool deleted = false;
};

/// Watches all pods of the cluster. Thread-safe.
class BindingWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<BindingWatch>> start(const client::ClientConfig& config,
                                                     const std::string& resource_version);

  /// Waits until `count` pods of that namespace are bound or terminating, at most for `limit`. Returns their number.
  /// Errors: Unavailable if the watch ended.
  Result<std::size_t> wait_settled(const std::string& namespace_name, std::size_t count, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);
  /// Waits until all observed pods of that namespace are deleted. Errors: also Timeout with the progress.
  Status wait_deleted(const std::string& namespace_name, Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// By name.
  [[nodiscard]] std::map<std::string, ObservedPod> pods(const std::string& namespace_name) const
      TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Observed {
    std::map<std::string, ObservedPod> pods;
    std::size_t settled = 0;
    std::size_t deleted = 0;
  };
  BindingWatch() = default;
  void on_event(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_end() TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] const Observed& observed_in(const std::string& namespace_name) const TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::unordered_map<std::string, Observed> observed_ TPUSLICE_GUARDED_BY(mutex_);
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WatchStream> stream_;  ///< Destroyed first.
};

}  // namespace tpuslice::bench
