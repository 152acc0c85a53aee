// Whether a RayService can be carried out.
#pragma once

#include "api/types/conditions.h"
#include "api/types/object.h"

namespace tpuslice::rayservice {

/// Why the spec is refused; no problem if it is not.
[[nodiscard]] Problem check_spec(const Object& service);

}  // namespace tpuslice::rayservice
