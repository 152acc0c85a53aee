// OpenAPI documents: what kubectl explain, --validate and client-side apply read.
#pragma once

#include "api/sim/api_call.h"

namespace tpuslice::sim {

/// GET /openapi/v2, /openapi/v3 and /openapi/v3/apis/<group>/<version>. Errors: NotFound, NotAcceptable.
[[nodiscard]] Result<http::Reply> openapi_reply(const ApiCall& call);

/// One group and version: its schemas, its paths and their parameters. Null if nothing is served there.
[[nodiscard]] Json openapi_v3(const Resources& resources, const std::string& group, const std::string& version);

}  // namespace tpuslice::sim
