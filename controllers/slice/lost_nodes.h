// Lost nodes: when the node of a slice's pod counts as lost. Pure.
#pragma once

#include <optional>
#include <string>

#include "controllers/slice/slice.h"
#include "controllers/slice/slice_options.h"

namespace tpuslice::slice {

struct SliceObserved;

/// How long a node is not Ready.
struct NotReady {
  /// When this process saw it, by its own clock, which may differ from that of who writes the node's status. If the
  /// node was not Ready when it was first seen, what its status says.
  Timestamp since = {};
  /// The same, or when the last disruption ended if that was later, since nodes become Ready one by one after it;
  /// nothing during one.
  std::optional<Timestamp> counts_from = since;
};

/// When the pod's node counts as lost, unless it is Ready again; absent for a node that is Ready or deleted.
[[nodiscard]] std::optional<Timestamp> lost_at(const PodView& pod, const SliceObserved& seen, const Options& options);
/// Whether a pod of the slice that was placed is on a lost node. Slices without gates are not torn down.
[[nodiscard]] bool has_lost_node(const SliceObserved& seen, const Options& options);
/// The value of tpu::kNodeNotReady for a pod whose node is not Ready.
[[nodiscard]] std::string report_of_lost_node(const PodView& pod, const SliceObserved& seen, const Options& options);

}  // namespace tpuslice::slice
