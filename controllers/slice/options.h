// Options of the slice controller.
#pragma once

#include "api/base/clock.h"
#include "controllers/slice/assignment.h"

namespace tpuslice::slice {

struct Options {
  NoCapacity no_capacity = NoCapacity::kWait;
  Duration node_timeout = std::chrono::seconds(40);  ///< A node not Ready for this long is lost, with its pods.
  /// A terminating pod on a lost node is force-deleted this long after its deletion was due.
  Duration lost_pod_timeout = std::chrono::minutes(5);
  /// A slice is torn down if a pod is still unschedulable this long after the placement.
  Duration scheduling_timeout = std::chrono::minutes(2);
  Duration waiting_reason_delay = std::chrono::seconds(5);  ///< Younger slices get no waiting reason.
};

}  // namespace tpuslice::slice
