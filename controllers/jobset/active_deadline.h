// spec.activeDeadlineSeconds: how long a JobSet may be active. The time counts from status.startTime, which is set
// again when the JobSet is resumed and when all of its Jobs restart, and not while it is suspended.
#pragma once

#include <optional>

#include "api/types/conditions.h"
#include "controllers/jobset/jobset_state.h"

namespace tpuslice::jobset {

/// Reason of the condition Failed.
inline constexpr const char* kDeadlineExceeded = "DeadlineExceeded";

/// When the JobSet fails unless it has finished; absent without a deadline, and while it is not active.
[[nodiscard]] std::optional<Timestamp> active_until(const JobSetState& state);

/// Why the JobSet fails; no problem while it may go on.
[[nodiscard]] Problem exceeded_deadline(const JobSetState& state);

/// The next startTime of a JobSet that has not finished. `restarts`: all of its Jobs restart now.
[[nodiscard]] std::optional<Timestamp> next_start_time(const JobSetState& state, bool restarts);

}  // namespace tpuslice::jobset
