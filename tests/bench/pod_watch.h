// PodWatch: the outside watcher. Notes when each pod event arrives, and nothing else.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/client/config.h"
#include "api/http/blocking_connection.h"

namespace tpuslice::bench {

/// Watches all pods of the cluster as whole JSON, the encoding the operator asks for as well, so that the API server
/// has it once for both. A watch that the API server gives up, as it does with all that cannot be served fast enough,
/// is taken up where it ended. Has a thread of its own; thread-safe.
class PodWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<PodWatch>> start(const client::ClientConfig& config,
                                                 const std::string& resource_version);
  ~PodWatch();
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

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

  /// How often the API server gave it up.
  [[nodiscard]] int interruptions() const { return interruptions_; }

 private:
  struct Seen {
    std::vector<Instant> added;
    std::size_t deleted = 0;
  };
  PodWatch(client::ClientConfig config, std::string resource_version);
  Status open() TPUSLICE_EXCLUDES(mutex_);
  void run() TPUSLICE_EXCLUDES(mutex_);
  void read(http::BlockingConnection& connection) TPUSLICE_EXCLUDES(mutex_);
  void take(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);

  const RealClock clock_;
  const client::ClientConfig config_;
  std::string resource_version_;  ///< Of the last event; of the thread alone.
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::unordered_map<std::string, Seen> seen_ TPUSLICE_GUARDED_BY(mutex_);
  std::unique_ptr<http::BlockingConnection> connection_ TPUSLICE_GUARDED_BY(mutex_);
  bool stopping_ TPUSLICE_GUARDED_BY(mutex_) = false;
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::atomic<int> interruptions_ = 0;
  std::jthread thread_;
};

}  // namespace tpuslice::bench
