// Suspension: spec.suspend deletes all clusters, services, the Gateway and the HTTPRoute; without it they are created
// again.
//
// Progress is recorded in conditions, as in upstream: Suspending is written before the first deletion, Suspended after
// the last. A suspension that has begun is completed even if spec.suspend is unset meanwhile.
#pragma once

#include <vector>

#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

enum class SuspendPhase : std::uint8_t {
  kRunning,    ///< Not suspended.
  kRequested,  ///< To be suspended: Suspending is written, and nothing else.
  kDeleting,   ///< Suspending is written: the children are deleted.
  kDeleted,    ///< All are deleted: Suspended is written.
  kSuspended,
  kResumed,  ///< Suspended is removed, and nothing else.
};
[[nodiscard]] SuspendPhase suspend_phase(const RayServiceState& state);

/// The services that this RayService owns, by name. The garbage collector deletes those of an earlier one of its name.
[[nodiscard]] std::vector<ObjectPtr> own_services(const RayServiceState& state);

}  // namespace tpuslice::rayservice
