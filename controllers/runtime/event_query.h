// Reads the newest event about an object, for a request of a plan.
#pragma once

#include <stop_token>
#include <string>

#include "api/client/client.h"
#include "controllers/plan/workload_request.h"

namespace tpuslice::runtime {

/// {"message", "time"} of the newest event of the namespace that the query selects; an empty object if there is none.
/// Reads one page: the recorder of Kubernetes keeps few events about one object and reason. The message is shortened.
///
/// Errors: those of client::Reader::list.
[[nodiscard]] Result<Json> newest_event(client::Reader& reader, const std::string& namespace_name,
                                        const plan::EventQuery& query, const std::stop_token& stop);

}  // namespace tpuslice::runtime
