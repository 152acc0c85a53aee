// Options of the RayCronJob controller.
#pragma once

#include <cctz/time_zone.h>

namespace tpuslice::raycronjob {

struct Options {
  cctz::time_zone local_zone = cctz::utc_time_zone();  ///< For schedules without spec.timeZone.
};

}  // namespace tpuslice::raycronjob
