// Time zones of the IANA database that is installed (Debian package tzdata).
//
// The database is a constant table, like the catalog of TPUs: the list of names is read once, and each zone when it is
// first used. A newer database is used after a restart.
#pragma once

#include <string>
#include <string_view>

#include <cctz/time_zone.h>

#include "api/base/result.h"

namespace tpuslice::raycronjob {

/// The time zone of this name, such as "Europe/Berlin" or "UTC". Other names are never passed to cctz, which keeps
/// every name that it was asked for, and opens the file of that path.
///
/// Errors: InvalidArgument saying what is wrong, with the name that differs only in case, if there is one.
[[nodiscard]] Result<cctz::time_zone> find_time_zone(const std::string& name);

}  // namespace tpuslice::raycronjob
