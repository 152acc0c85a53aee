// Admission of workload objects.
#pragma once

#include "tpu/rules/workload_kinds.h"
#include "webhook/admission_review.h"

namespace tpuslice::webhook {

/// The response to a creation or update of an object of that kind: allowed, or 422 with all errors. Errors that the
/// stored object has already do not refuse an update, so that objects older than the rules can still be labelled,
/// finalized and deleted. `served`: our controller serves the kind, so unsupported fields are errors, too.
[[nodiscard]] AdmissionResponse admit_workload(const AdmissionRequest& request, const rules::WorkloadKind& kind,
                                               bool served);

}  // namespace tpuslice::webhook
