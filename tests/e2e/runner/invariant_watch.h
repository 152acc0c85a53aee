// InvariantWatch: watches objects during a test and checks a Distinctness invariant at every change.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/client.h"
#include "tests/e2e/runner/scenario.h"

namespace tpuslice::e2e {

/// Watches in a thread. A broken watch is resumed, an expired one starts with a new list. Thread-safe.
class InvariantWatch {
 public:
  /// Starts. `reader` outlives it. With an empty `namespace_name`, watches all namespaces.
  InvariantWatch(client::Reader& reader, const ResourceType& type, std::string namespace_name, Distinctness invariant);
  ~InvariantWatch();
  InvariantWatch(const InvariantWatch&) = delete;
  InvariantWatch& operator=(const InvariantWatch&) = delete;

  /// One line for each change that violated the invariant.
  [[nodiscard]] std::vector<std::string> violations() const TPUSLICE_EXCLUDES(mutex_);
  /// Number of observed changes: without any, the invariant was not tested.
  [[nodiscard]] std::size_t changes() const TPUSLICE_EXCLUDES(mutex_);
  /// Processes an object as the watch does.
  void observe(const Json& object, bool deleted) TPUSLICE_EXCLUDES(mutex_);

 private:
  void run(const std::stop_token& stop);
  /// Returns the resourceVersion of the list; empty if it failed.
  [[nodiscard]] std::string list(const std::stop_token& stop);
  /// Reads until the stream ends. Updates `version`; clears it if it expired.
  void watch(std::string& version, const std::stop_token& stop);

  client::Reader& reader_;
  const ResourceType type_;
  const std::string namespace_;
  const Distinctness invariant_;
  mutable Mutex mutex_;
  std::map<std::string, std::map<std::string, std::string>> live_ TPUSLICE_GUARDED_BY(mutex_);  ///< Values, uid, name.
  std::vector<std::string> violations_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t changes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::jthread thread_;
};

}  // namespace tpuslice::e2e
