// The finalizer of RayServices, which keeps the object until its RayClusters are deleted.
#pragma once

#include "controllers/plan/plan.h"

namespace tpuslice::rayservice {

[[nodiscard]] bool has_finalizer(const Object& service);
/// Whether the service is being deleted with --cascade=orphan, so that its RayClusters stay.
[[nodiscard]] bool leaves_orphans(const Object& service);
/// Patches of the service, which must be as observed.
[[nodiscard]] plan::Action add_finalizer(const Object& service);
[[nodiscard]] plan::Action remove_finalizer(const Object& service);

}  // namespace tpuslice::rayservice
