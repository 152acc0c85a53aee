// The plan of one slice: what was begun is completed, what is broken is torn down whole. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/slice/options.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

struct SliceObserved {
  ObjectKey key;                         ///< Namespace and label value.
  std::vector<PodPtr> pods;              ///< All with that label.
  std::map<std::string, NodePtr> nodes;  ///< Of those pods; one that no longer exists is absent.
  Timestamp now;
};

/// - A placed slice: pods that are still gated, because whoever placed it stopped there or because they were created
///   later, are let go to where host 0 went.
/// - A slice that lost a pod, has a pod on a lost node, or that the scheduler does not accept where it was sent: all
///   its live hosts that had started are deleted. Its controller makes new ones under its own policy and budget, and
///   these wait for nodes like those of a new slice. What already waits is left alone, so a slice is torn down once.
/// - A pod without TPU whose slice does not come is let go.
/// - A pod that should have ended, on a node that is lost, is deleted without waiting for the node.
///
/// Slices that never were gated are left alone. One whose pods were not all there when it was placed is not torn down
/// for a pod that it loses: its controller replaces that pod, or ends the group itself.
[[nodiscard]] runtime::Plan plan_slice(const SliceObserved& seen, const Options& options);

}  // namespace tpuslice::slice
