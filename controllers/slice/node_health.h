// NodeHealth: since when the TPU nodes are healthy as a whole. While very many are not Ready, the cause is the control
// plane or its network, not the nodes: their pods usually run on, so no slice is torn down for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/base/mutex.h"
#include "controllers/slice/slice.h"
#include "controllers/slice/slice_options.h"

namespace tpuslice::slice {

/// Thread-safe.
class NodeHealth {
 public:
  /// What happened to the nodes before `start` is unknown; it may have been a disruption.
  NodeHealth(const Options& options, Timestamp start)
      : start_(start),
        disrupted_nodes_(options.disrupted_nodes),
        disrupted_percent_(options.disrupted_percent),
        since_(start) {}

  /// A change of a TPU node: `before` is null for an addition, `after` for a deletion. Minimal nodes are not counted,
  /// nor are those that were added since `start` and have never been Ready: a node pool that grows is no disruption.
  void record(const NodePtr& before, const NodePtr& after, Timestamp now) TPUSLICE_EXCLUDES(mutex_);

  /// When the last disruption ended; `now` during one. In a disruption more than Options::disrupted_nodes nodes, and at
  /// least Options::disrupted_percent of all, are not Ready. Nodes become Ready one by one after it, so the time for
  /// which a node was not Ready before this does not count.
  [[nodiscard]] Timestamp healthy_since(Timestamp now) const TPUSLICE_EXCLUDES(mutex_);
  /// When this process saw the node cease to be Ready, by its own clock, which may differ from that of who writes the
  /// node's status. Nothing for a node that is Ready, or was not when it was first seen.
  [[nodiscard]] std::optional<Timestamp> not_ready_since(const std::string& node) const TPUSLICE_EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool is_disrupted_locked() const TPUSLICE_REQUIRES(mutex_);
  /// Whether the node is Ready or not; neither if its view is minimal, or if it is new.
  [[nodiscard]] bool counts_locked(const NodePtr& node) const TPUSLICE_REQUIRES(mutex_);

  /// Nodes that are added within this time of the start existed before.
  static constexpr Duration kFirstList = std::chrono::minutes(1);

  const Timestamp start_;
  const std::int64_t disrupted_nodes_;
  const std::int64_t disrupted_percent_;
  mutable Mutex mutex_;
  std::int64_t nodes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::int64_t not_ready_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  Timestamp since_ TPUSLICE_GUARDED_BY(mutex_);
  std::set<std::string> new_ TPUSLICE_GUARDED_BY(mutex_);  ///< Added since the start, and never Ready.
  std::map<std::string, Timestamp> not_ready_since_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::slice
