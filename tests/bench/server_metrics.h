// Requests as the API server counts them.
#pragma once

#include <string_view>

#include "api/client/client.h"

namespace tpuslice::bench {

/// Writes so far to what the operator writes: pods, services, Jobs, RayClusters, JobSets, events. In a cluster at rest
/// nobody else writes these. Errors: of the request.
[[nodiscard]] Result<double> operator_writes(client::Client& client);

/// The sum of apiserver_request_total in `metrics` over writing verbs and these resources.
[[nodiscard]] double count_writes(std::string_view metrics);

}  // namespace tpuslice::bench
