// ReadyWatch: which pods of a namespace are Ready.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/types/json.h"
#include "tests/bench/watch_stream.h"

namespace tpuslice::bench {

struct ReadyPod {
  std::string name;
  std::string uid;
  StringMap labels;
};

/// Thread-safe.
class ReadyWatch {
 public:
  /// For a namespace without pods at `resource_version`. Errors: Unavailable.
  static Result<std::unique_ptr<ReadyWatch>> start(const client::ClientConfig& config,
                                                   const std::string& namespace_name,
                                                   const std::string& resource_version);

  /// Waits until the namespace has exactly `count` pods, all of them Ready and none terminating, without the pod with
  /// the uid `gone`. Returns when the last event before its return arrived.
  /// Errors: Timeout with the progress; Unavailable if the watch ended.
  Result<Instant> wait_ready(std::size_t count, const std::string& gone, Duration limit) const
      TPUSLICE_EXCLUDES(mutex_);
  /// Waits until none of the pods with these names exists. Errors: as wait_ready().
  Status wait_deleted(const std::vector<std::string>& names, Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// Ordered by name.
  [[nodiscard]] std::vector<ReadyPod> ready_pods() const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Pod {
    std::string name;
    StringMap labels;
    bool ready = false;  ///< And not terminating.
  };
  ReadyWatch() = default;
  void on_event(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_end() TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t count_ready() const TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::map<std::string, Pod> pods_ TPUSLICE_GUARDED_BY(mutex_);  ///< By uid.
  Instant last_event_ TPUSLICE_GUARDED_BY(mutex_){};
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WatchStream> stream_;  ///< Destroyed first.
};

}  // namespace tpuslice::bench
