#include "controllers/rayservice/validation.h"

#include "controllers/rayservice/rules/spec.h"
#include "controllers/rayservice/rules/validator.h"
#include "controllers/rayservice/serve_config.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rayservice {

Problem check_spec(const Object& service, const Result<ServeConfig>& config) {
  const Json& json = service.json();
  if (Problem refusal =
          rules::refusal(rules::validate_rayservice(json, nullptr), rules::unsupported_rayservice_fields(json))) {
    return refusal;
  }
  // It may be valid YAML, but too large.
  return config ? Problem{} : Problem{"InvalidSpec", config.error().message()};
}

}  // namespace tpuslice::rayservice
