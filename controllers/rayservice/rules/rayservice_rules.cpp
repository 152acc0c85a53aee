#include "controllers/rayservice/rules/rayservice_rules.h"

#include "controllers/rayservice/rules/validator.h"

namespace tpuslice::rayservice {

constinit const rules::WorkloadKind kAdmission{
    .kind = "RayService",
    .group = "ray.io",
    .version = "v1",
    .path = "/validate-ray-io-v1-rayservice",
    .validate = rules::validate_rayservice,
    .unsupported_fields = rules::unsupported_rayservice_fields,
    .warn = rules::warn_rayservice,
};

}  // namespace tpuslice::rayservice
