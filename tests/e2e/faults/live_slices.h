// LiveSlices: watches all pods of RayClusters on a real API server and holds them against what must never be.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/client.h"

namespace tpuslice::testing {

/// Every change of every pod is looked at, in order, by a thread of its own. Where the watch breaks it goes on from the
/// last change; where the server has forgotten that, from a new list. Thread-safe.
class LiveSlices {
 public:
  /// `reader` outlives it.
  explicit LiveSlices(client::Reader& reader);
  ~LiveSlices();
  LiveSlices(const LiveSlices&) = delete;
  LiveSlices& operator=(const LiveSlices&) = delete;

  /// "<n> live pods are <place>", for each moment at which it was so.
  [[nodiscard]] std::vector<std::string> violations() const TPUSLICE_EXCLUDES(mutex_);
  /// Changes seen so far: a watch that saw none has shown nothing.
  [[nodiscard]] std::size_t changes() const TPUSLICE_EXCLUDES(mutex_);

 private:
  void run(const std::stop_token& stop);
  /// Empty if the list failed.
  [[nodiscard]] std::string list(const std::stop_token& stop);
  /// Reads until the stream ends. `version` is moved along, and empty once the server has forgotten it.
  void watch(std::string& version, const std::stop_token& stop);
  void see(const std::string& pod, bool deleted) TPUSLICE_EXCLUDES(mutex_);

  client::Reader& reader_;
  mutable Mutex mutex_;
  std::map<std::string, std::set<std::string>> live_ TPUSLICE_GUARDED_BY(mutex_);  ///< Uids by place.
  std::vector<std::string> violations_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t changes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::jthread thread_;
};

}  // namespace tpuslice::testing
