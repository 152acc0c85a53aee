// What a plan for a JobSet must never do, and what must not be wrong with a JobSet at rest.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {

[[nodiscard]] std::vector<runtime::Action> actions_of(const runtime::Plan& plan);

/// Nothing is carried out: it is being deleted, somebody else's, or its spec is refused.
[[nodiscard]] bool is_left_alone(const JobSetObserved& seen);

/// One sentence for each promise that `plan`, made for `seen`, breaks.
[[nodiscard]] std::vector<std::string> breaches(const JobSetObserved& seen, const runtime::Plan& plan);

/// What is wrong with a JobSet for which there is nothing left to do.
[[nodiscard]] std::vector<std::string> faults_of(const JobSetObserved& seen);

}  // namespace tpuslice::jobset
