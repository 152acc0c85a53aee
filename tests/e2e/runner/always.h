// Always: watches objects while a test runs and holds every change against what must be so at all times.
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

/// One watch, with a thread of its own. Where it breaks it goes on from the last change, and where the server has
/// forgotten that, from a new list. Thread-safe.
class Always {
 public:
  /// From now on. `reader` outlives it; `space` empty: all namespaces.
  Always(client::Reader& reader, const ResourceType& type, std::string space, Distinctness rule);
  ~Always();
  Always(const Always&) = delete;
  Always& operator=(const Always&) = delete;

  /// One line for each moment at which it was not so.
  [[nodiscard]] std::vector<std::string> violations() const TPUSLICE_EXCLUDES(mutex_);
  /// Changes seen so far: a watch that saw none has shown nothing.
  [[nodiscard]] std::size_t changes() const TPUSLICE_EXCLUDES(mutex_);
  /// Takes in an object, as the watch does.
  void see(const Json& object, bool deleted) TPUSLICE_EXCLUDES(mutex_);

 private:
  void run(const std::stop_token& stop);
  /// Its resourceVersion; empty if it failed.
  [[nodiscard]] std::string list(const std::stop_token& stop);
  /// Reads until the stream ends. `version` is moved along, and empty once the server has forgotten it.
  void watch(std::string& version, const std::stop_token& stop);

  client::Reader& reader_;
  const ResourceType type_;
  const std::string space_;
  const Distinctness rule_;
  mutable Mutex mutex_;
  std::map<std::string, std::map<std::string, std::string>> live_ TPUSLICE_GUARDED_BY(mutex_);  ///< Place, uid, name.
  std::vector<std::string> violations_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t changes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::jthread thread_;
};

}  // namespace tpuslice::e2e
