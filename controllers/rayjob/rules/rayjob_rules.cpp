#include "controllers/rayjob/rules/rayjob_rules.h"

#include "controllers/rayjob/rules/validator.h"

namespace tpuslice::rayjob {

constinit const rules::WorkloadKind kAdmission{
    .kind = "RayJob",
    .group = "ray.io",
    .version = "v1",
    .path = "/validate-ray-io-v1-rayjob",
    .validate = rules::validate_rayjob,
    .unsupported_fields = rules::unsupported_rayjob_fields,
    .warn = rules::warn_rayjob,
};

}  // namespace tpuslice::rayjob
