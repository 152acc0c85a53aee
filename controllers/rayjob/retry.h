// Whether a RayJob that ended without success gets another attempt.
#pragma once

#include <string>
#include <string_view>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// `reason`: of the failure. DeadlineExceeded and JobStatusCheckTimeoutExceeded are not retried.
[[nodiscard]] bool may_retry(const RayJobState& state, std::string_view reason);

/// "it is retried with a new RayCluster, attempt 2 of 3", or why it is not.
[[nodiscard]] std::string describe_retry(const RayJobState& state, std::string_view reason);

}  // namespace tpuslice::rayjob
