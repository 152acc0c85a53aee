#include "controllers/raycronjob/rules/raycronjob_rules.h"

#include "controllers/raycronjob/rules/validator.h"

namespace tpuslice::raycronjob {

constinit const rules::WorkloadKind kAdmission{
    .kind = "RayCronJob",
    .group = "ray.io",
    .version = "v1",
    .path = "/validate-ray-io-v1-raycronjob",
    .validate = validate_raycronjob,
    .unsupported_fields = unsupported_raycronjob_fields,
    .warn = warn_raycronjob,
};

}  // namespace tpuslice::raycronjob
