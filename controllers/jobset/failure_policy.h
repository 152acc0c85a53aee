// The failure policy: what becomes of a JobSet when Jobs of it fail.
#pragma once

#include <vector>

#include "controllers/jobset/changes.h"
#include "controllers/jobset/children.h"

namespace tpuslice::jobset {

/// Applies the policy to all of `failed`: the first rule that matches any of them acts on the one that failed first.
/// Where it restarts that Job alone, the others are looked at again in the same way, until none is left or the whole
/// JobSet restarts or fails. Only the status changes: what has to go is found by the next plan, from the numbers.
void apply_failure_policy(const std::vector<JobPtr>& failed, Changes& changes);

}  // namespace tpuslice::jobset
