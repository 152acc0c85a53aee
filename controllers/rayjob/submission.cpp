#include "controllers/rayjob/submission.h"

#include <utility>

#include "api/types/yaml.h"

namespace tpuslice::rayjob {
namespace {

/// A positive number; Ray takes 0 for "not given", too.
void put_number(Json& out, const char* name, const Json* value) {
  if (value != nullptr && value->is_number() && value->get<double>() > 0) out[name] = *value;
}

}  // namespace

Result<Json> build_submission(const RayJobSpec& spec, const std::string& submission_id) {
  Json out = {{"entrypoint", spec.entrypoint}, {"submission_id", submission_id}};
  if (!spec.runtime_env.empty()) {
    Result<Json> environment = parse_yaml(spec.runtime_env);
    if (!environment) return environment.error().within("spec.runtimeEnvYAML");
    if (!environment->is_null() && !environment->is_object()) {
      return Error::invalid_argument("spec.runtimeEnvYAML: {} is not an object", environment->type_name());
    }
    if (environment->is_object()) out["runtime_env"] = *std::move(environment);
  }
  if (!spec.metadata.empty()) {
    for (const auto& [key, value] : spec.metadata) out["metadata"][key] = value;
  }
  put_number(out, "entrypoint_num_cpus", spec.entrypoint_cpus);
  put_number(out, "entrypoint_num_gpus", spec.entrypoint_gpus);
  if (!spec.entrypoint_resources.empty()) {
    Result<Json> resources = parse_json(spec.entrypoint_resources);
    if (!resources) return resources.error().within("spec.entrypointResources");
    if (!resources->is_object()) {
      return Error::invalid_argument("spec.entrypointResources: {} is not an object", resources->type_name());
    }
    out["entrypoint_resources"] = *std::move(resources);
  }
  return out;
}

}  // namespace tpuslice::rayjob
