// Which sets of which old revision lose replicas in a step of a rollout.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/disaggregatedset/role_sets.h"
#include "controllers/disaggregatedset/rollout/rollout.h"

namespace tpuslice::disaggregatedset {

/// Takes `budget` replicas, by role, from the revisions, the newest first. If a revision loses a whole role, it loses
/// all of its roles: a part of them serves nothing. Sets that are being deleted are left out. Source: upstream's
/// scaleDownOld.
[[nodiscard]] std::vector<Scaling> drain(const std::vector<RoleSets>& old, std::map<std::string, std::int64_t> budget);

}  // namespace tpuslice::disaggregatedset
