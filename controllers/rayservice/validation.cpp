#include "controllers/rayservice/validation.h"

#include "api/workloads/rayservice/spec.h"
#include "controllers/rayservice/serve_config.h"

namespace tpuslice::rayservice {

Problem check_spec(const Object& service) {
  const RayServiceSpec spec = RayServiceSpec::read(service);
  if (spec.cluster_config == nullptr || !spec.cluster_config->is_object()) {
    return {"InvalidSpec", "spec.rayClusterConfig: missing"};
  }
  if (spec.upgrade_type == kIncrementalUpgrade) {
    return {"UnsupportedField", fmt::format("spec.upgradeStrategy.type: {} is not supported; use {} or {}",
                                            kIncrementalUpgrade, kNewCluster, kNone)};
  }
  const Result<ServeConfig> config = parse_serve_config(spec.serve_config);
  return config ? Problem{} : Problem{"InvalidSpec", config.error().message()};
}

}  // namespace tpuslice::rayservice
