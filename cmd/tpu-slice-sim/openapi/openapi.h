// OpenAPI documents, for kubectl explain, --validate and client-side apply.
#pragma once

#include "cmd/tpu-slice-sim/server/api_call.h"

namespace tpuslice::sim {

/// GET /openapi/v2, /openapi/v3 and /openapi/v3/apis/<group>/<version>. Errors: NotFound, NotAcceptable.
[[nodiscard]] Result<http::Reply> openapi_reply(const ApiCall& call);

/// The schemas and paths of one group and version. Null if it is not served.
[[nodiscard]] Json openapi_v3(const Resources& resources, const std::string& group, const std::string& version);

}  // namespace tpuslice::sim
