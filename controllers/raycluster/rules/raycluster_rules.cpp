#include "controllers/raycluster/rules/raycluster_rules.h"

#include <array>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/validator.h"

namespace tpuslice::raycluster {

constinit const rules::WorkloadKind kAdmission{
    .kind = "RayCluster",
    .group = "ray.io",
    .version = "v1",
    .path = "/validate-ray-io-v1-raycluster",
    .validate = rules::validate_raycluster,
    .unsupported_fields = rules::unsupported_fields,
    .warn = [](const Json& object, const Json*) { return rules::warn_raycluster(object); },
    .pod_label = kRayCluster,
    .identify = identify_pod,
    .indexes_missing = "Turn on KubeRay's feature gate RayMultiHostIndexing",
};

rules::WorkloadKinds own_kinds() {
  static constexpr std::array kOwn = {&kAdmission};
  return kOwn;
}

}  // namespace tpuslice::raycluster
