// PodWatch: watches the pods of a test and checks at every change what must hold of slices beside Kueue.
#pragma once

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// Watches in a thread, from the construction on. Thread-safe.
class PodWatch {
 public:
  /// `reader` outlives it.
  PodWatch(client::Reader& reader, std::string namespace_name);
  ~PodWatch();
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

  /// One line for each change in which a pod of a multi-host slice had a gate of Kueue but none of ours, or in which
  /// the running pods of a slice had nodes in two node pools.
  [[nodiscard]] std::vector<std::string> violations() const TPUSLICE_EXCLUDES(mutex_);
  /// Number of pods that were seen with both our gate and the one with this name.
  [[nodiscard]] std::size_t held_by_both(std::string_view gate) const TPUSLICE_EXCLUDES(mutex_);
  /// Number of pods that were seen with our gate and a node selector for one host: Kueue had placed them.
  [[nodiscard]] std::size_t placed_by_kueue() const TPUSLICE_EXCLUDES(mutex_);

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] std::string list(const std::stop_token& stop);
  void watch(std::string& version, const std::stop_token& stop);
  void observe(const Json& pod, bool deleted) TPUSLICE_EXCLUDES(mutex_);
  void observe_gates(const Json& pod, const std::string& uid) TPUSLICE_REQUIRES(mutex_);
  void observe_node(const Json& pod, const std::string& uid, bool deleted) TPUSLICE_REQUIRES(mutex_);

  client::Reader& reader_;
  const std::string namespace_;
  mutable Mutex mutex_;
  std::vector<std::string> violations_ TPUSLICE_GUARDED_BY(mutex_);
  std::map<std::string, std::set<std::string>> held_by_both_ TPUSLICE_GUARDED_BY(mutex_);        ///< Gate, uids.
  std::set<std::string> placed_by_kueue_ TPUSLICE_GUARDED_BY(mutex_);                            ///< Uids.
  std::map<std::string, std::map<std::string, std::string>> pools_ TPUSLICE_GUARDED_BY(mutex_);  ///< Slice, uid, pool.
  std::jthread thread_;
};

/// The node pool of a node of sim::make_node().
[[nodiscard]] std::string pool_of_node(const std::string& node);

}  // namespace tpuslice::testing
