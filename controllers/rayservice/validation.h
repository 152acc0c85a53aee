// Whether a RayService can be carried out.
#pragma once

#include "api/types/conditions.h"
#include "api/types/object.h"
#include "controllers/rayservice/serve_config.h"

namespace tpuslice::rayservice {

/// Why the spec, whose Serve configuration was parsed to `config`, is refused; no problem if it is not.
[[nodiscard]] Problem check_spec(const Object& service, const Result<ServeConfig>& config);

}  // namespace tpuslice::rayservice
