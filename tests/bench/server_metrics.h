// Request metrics of the API server.
#pragma once

#include <string_view>

#include "api/client/client.h"

namespace tpuslice::bench {

/// Number of writes to resources that the operator writes: pods, services, Jobs, RayClusters, JobSets, events. In a
/// cluster at rest no other client writes these. Errors: of the request.
[[nodiscard]] Result<double> operator_writes(client::Client& client);

/// The sum of apiserver_request_total in `metrics` over the verbs that write these resources.
[[nodiscard]] double count_writes(std::string_view metrics);

}  // namespace tpuslice::bench
