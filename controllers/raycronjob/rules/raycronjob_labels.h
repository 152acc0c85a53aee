// Names of the RayCronJob API, upstream's except those under tpuslice.dev/.
#pragma once

#include <string_view>

#include "api/types/resource_type.h"

namespace tpuslice::raycronjob {

inline constexpr ResourceType kRayCronJobs{"ray.io", "v1", "RayCronJob", "raycronjobs"};

/// Label of RayJobs: the name of their RayCronJob.
inline constexpr std::string_view kCronJobName = "ray.io/cronjob-name";
/// Annotation of RayJobs: the time for which the run was scheduled, in UTC.
inline constexpr std::string_view kScheduledTimestamp = "ray.io/cronjob-scheduled-timestamp";

/// Condition of ours; upstream has none. True: the message has the time of the next run.
inline constexpr std::string_view kScheduled = "tpuslice.dev/Scheduled";

// Reasons of kScheduled.
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kNameConflict = "NameConflict";
/// Reason of the failed action, too.
inline constexpr std::string_view kFailedRayJob = "FailedRayJob";

}  // namespace tpuslice::raycronjob
