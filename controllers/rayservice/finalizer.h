// The finalizer of RayServices: the object is there until its RayClusters are deleted.
#pragma once

#include "controllers/plan/plan.h"

namespace tpuslice::rayservice {

[[nodiscard]] bool has_finalizer(const Object& service);
/// Deleted with --cascade=orphan: the RayClusters run on.
[[nodiscard]] bool leaves_orphans(const Object& service);
/// Patches of the service, which must be as observed.
[[nodiscard]] plan::Action add_finalizer(const Object& service);
[[nodiscard]] plan::Action remove_finalizer(const Object& service);

}  // namespace tpuslice::rayservice
