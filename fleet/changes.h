// Changes: what an administrator or a failure could do to a fleet, applied to a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/snapshot.h"

namespace tpuslice::fleet {

enum class ChangeKind : std::uint8_t {
  kDrain,   ///< Nodes are cordoned, and the slices on them end.
  kLose,    ///< Nodes are not Ready any more, and the slices on them end.
  kRepair,  ///< Nodes are Ready and not cordoned.
  kAdd,     ///< There are further nodes.
  kDelete,  ///< A workload, or a pod, is deleted.
  kApply,   ///< There are further pods.
};

struct Change {
  ChangeKind kind = ChangeKind::kDrain;
  std::string text;  ///< Text of the change: "drain pool/v6e-4x4-a".
  std::vector<std::string> nodes = {};
  std::vector<ObjectKey> pods = {};  ///< Deleted pods.
  std::vector<NodePtr> new_nodes = {};
  std::vector<PodPtr> new_pods = {};
};

/// Reads "drain", "lose" or "repair" with "pool/<name>" or "node/<name>"; "add" with a text of new_pools(); "delete"
/// with "<kind>/<name>" of a workload in `namespace_name`, or in any namespace if that is empty.
///
/// Errors: InvalidArgument with what would be right; NotFound for an object that the snapshot lacks.
[[nodiscard]] Result<Change> read_change(std::string_view verb, std::string_view subject, const Snapshot& snapshot,
                                         const std::string& namespace_name);

/// The snapshot after the change. Pods of slices that end are created again at once by their controllers, with new
/// uids, as gated pods that keep their place in the queue; those that are no slice of several hosts are only deleted.
[[nodiscard]] Snapshot with_change(Snapshot snapshot, const Change& change);

/// The snapshot after all that placement does until it finds nothing more to do, if nothing else happens: slices that
/// get domains have them, preempted ones wait again.
[[nodiscard]] Snapshot settled(Snapshot snapshot);

/// The nodes of a pool.
[[nodiscard]] std::vector<std::string> nodes_of_pool(const Snapshot& snapshot, std::string_view pool);

}  // namespace tpuslice::fleet
