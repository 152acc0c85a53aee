#include "controllers/disaggregatedset/rules/disaggregatedset_rules.h"

#include "controllers/disaggregatedset/rules/validator.h"

namespace tpuslice::disaggregatedset {

constinit const rules::WorkloadKind kAdmission{
    .kind = "DisaggregatedSet",
    .group = "disaggregatedset.x-k8s.io",
    .version = "v1",
    .path = "/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset",
    .validate = rules::validate_disaggregatedset,
    .warn = rules::warn_disaggregatedset,
};

}  // namespace tpuslice::disaggregatedset
