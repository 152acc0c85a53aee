// Invariants of plans for JobSets, and of JobSets at rest.
#pragma once

#include <string>
#include <vector>

#include "tests/laws/laws.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {

using laws::actions_of;

/// Being deleted, managed by another controller, or refused.
[[nodiscard]] bool is_not_reconciled(const JobSetObserved& seen);

/// One sentence for each invariant that `plan` for `seen` violates.
[[nodiscard]] std::vector<std::string> violations(const JobSetObserved& seen, const plan::Plan& plan);

/// Defects of a JobSet whose plan is empty.
[[nodiscard]] std::vector<std::string> defects_at_rest(const JobSetObserved& seen);

}  // namespace tpuslice::jobset
