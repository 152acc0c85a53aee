#include "controllers/rayservice/validation.h"

#include "webhook/rules/rayservice/validator.h"
#include "webhook/rules/refusal.h"

namespace tpuslice::rayservice {

Problem check_spec(const Object& service, const Result<ServeConfig>& config) {
  const Json& json = service.json();
  if (Problem refusal =
          webhook::refusal(webhook::validate_rayservice(json, nullptr), webhook::unsupported_rayservice_fields(json))) {
    return refusal;
  }
  // It may be valid YAML, but too large.
  return config ? Problem{} : Problem{"InvalidSpec", config.error().message()};
}

}  // namespace tpuslice::rayservice
