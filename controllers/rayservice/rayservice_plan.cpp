#include "controllers/rayservice/rayservice_plan.h"

#include "controllers/rayservice/decisions.h"
#include "controllers/rayservice/render.h"
#include "controllers/rayservice/rules/validator.h"
#include "controllers/rayservice/serve_config.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rayservice {
namespace {

/// Why the spec, whose Serve configuration was parsed to `config`, is refused; no problem if it is not.
Problem check_spec(const Object& service, const Result<ServeConfig>& config) {
  const Json& json = service.json();
  if (Problem refusal =
          rules::refusal(rules::validate_rayservice(json, nullptr), rules::unsupported_rayservice_fields(json))) {
    return refusal;
  }
  // It may be valid YAML, but too large.
  return config ? Problem{} : Problem{"InvalidSpec", config.error().message()};
}

}  // namespace

plan::Plan plan_rayservice(const RayServiceObserved& seen, const Options& options) {
  const RayServiceState state(seen);
  if (state.spec.managed_by_other()) return plan::Plan{};
  const Result<ServeConfig> config = parse_serve_config(state.spec.serve_config);
  return render(state, decide(state, check_spec(seen.service, config), config.value_or({}), options));
}

}  // namespace tpuslice::rayservice
