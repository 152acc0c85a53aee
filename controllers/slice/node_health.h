// NodeHealth: since when the nodes of a zone are healthy as a whole. While very many are not Ready, the cause is the
// control plane or a network, not the nodes: their pods usually run on, so no slice is torn down for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/base/mutex.h"
#include "controllers/slice/lost_nodes.h"
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
        all_{.since = start, .without_tpus_since = start} {}

  /// A change of a node, with TPUs or without: `before` is null for an addition, `after` for a deletion. Minimal nodes
  /// are not counted, nor are those that were added since `start` and have never been Ready: a node pool that grows is
  /// no disruption.
  void record(const NodePtr& before, const NodePtr& after, Timestamp now) TPUSLICE_EXCLUDES(mutex_);

  /// For a node that is not Ready. In a disruption of its zone, or of all zones together, more than
  /// Options::disrupted_nodes TPU nodes, and at least Options::disrupted_percent of all, are not Ready, and so is that
  /// share of the nodes without TPUs, if there are any: if those are Ready, the TPU nodes are lost indeed.
  [[nodiscard]] NotReady not_ready(const NodeView& node) const TPUSLICE_EXCLUDES(mutex_);
  /// The same for a node without TPUs. It counts as a disruption, too, if more than Options::disrupted_nodes nodes
  /// without TPUs, and that share of them, are not Ready, whatever becomes of those with TPUs.
  [[nodiscard]] NotReady not_ready_without_tpus(const NodeView& node) const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Count {
    std::int64_t nodes = 0;
    std::int64_t not_ready = 0;
  };
  /// A zone, or all of them.
  struct Zone {
    Count with_tpus = {};
    Count without_tpus = {};
    Timestamp since = {};               ///< When its last disruption ended.
    Timestamp without_tpus_since = {};  ///< When the last one of its nodes without TPUs ended.
  };

  [[nodiscard]] bool is_disrupted(const Zone& zone) const;
  [[nodiscard]] bool lacks_nodes_without_tpus(const Zone& zone) const;
  [[nodiscard]] Timestamp not_ready_since_locked(const NodeView& node) const TPUSLICE_REQUIRES(mutex_);
  /// Zone of the node; all if it is not known.
  [[nodiscard]] const Zone& find_zone_locked(const NodeView& node) const TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] bool has_disrupted_share(const Count& count) const {
    return count.not_ready * 100 >= count.nodes * disrupted_percent_;
  }
  /// Whether the node is Ready or not; neither if its view is minimal, or if it is new.
  [[nodiscard]] bool counts_locked(const NodePtr& node) const TPUSLICE_REQUIRES(mutex_);
  /// Counts the node once more, or with -1 once less.
  void add_locked(const NodeView& node, int times, Timestamp now) TPUSLICE_REQUIRES(mutex_);
  Zone& zone_locked(const NodeView& node) TPUSLICE_REQUIRES(mutex_);

  /// Nodes that are added within this time of the start existed before.
  static constexpr Duration kFirstList = std::chrono::minutes(1);

  const Timestamp start_;
  const std::int64_t disrupted_nodes_;
  const std::int64_t disrupted_percent_;
  mutable Mutex mutex_;
  Zone all_ TPUSLICE_GUARDED_BY(mutex_);
  std::map<std::string, Zone, std::less<>> zones_ TPUSLICE_GUARDED_BY(mutex_);  ///< By name.
  std::set<std::string> new_ TPUSLICE_GUARDED_BY(mutex_);  ///< Added since the start, and never Ready.
  std::map<std::string, Timestamp> not_ready_since_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::slice
