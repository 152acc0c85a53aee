#include "controllers/jobset/rules/jobset_rules.h"

#include <array>

#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/validator.h"

namespace tpuslice::jobset {

constinit const rules::WorkloadKind kAdmission{
    .kind = "JobSet",
    .group = "jobset.x-k8s.io",
    .version = "v1alpha2",
    .path = "/validate-jobset-x-k8s-io-v1alpha2-jobset",
    .validate = rules::validate_jobset,
    .unsupported_fields = rules::unsupported_jobset_fields,
    .warn = [](const Json& object, const Json*) { return rules::warn_jobset(object); },
    .pod_label = kJobSetName,
    .uid_label = kJobSetUid,
    .identify = identify_pod,
};

rules::WorkloadKinds own_kinds() {
  static constexpr std::array kOwn = {&kAdmission};
  return kOwn;
}

}  // namespace tpuslice::jobset
