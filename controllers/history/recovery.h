// When an interrupted slice runs again. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/history/record.h"
#include "controllers/slice/slice.h"

namespace tpuslice::history {

/// Records of slices that have not run again for this long are not looked at any more.
inline constexpr Duration kRecoveryWindow = std::chrono::hours(24);

/// The domain in which all hosts of the slice run since the interruption, empty if they have none; absent if they do
/// not, or are of another workload. `pods` are those of the slice.
[[nodiscard]] std::optional<std::string> runs_again_in(const Record& record, const std::vector<slice::PodPtr>& pods);

/// All hosts exist and run, Ready or not, or have succeeded.
[[nodiscard]] bool all_run(const slice::Slice& slice);

}  // namespace tpuslice::history
