// Whether the spec of a RayJob can be carried out.
#pragma once

#include "api/types/conditions.h"
#include "api/types/object.h"

namespace tpuslice::rayjob {

/// The errors of admission, which a RayJob that was created without the webhook, or before a rule, may still have.
[[nodiscard]] Problem validate(const Object& job);

}  // namespace tpuslice::rayjob
