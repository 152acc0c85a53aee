#include "tests/example_kind/rules/fleet_rules.h"

#include <array>

#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/example_kind/rules/validator.h"

namespace tpuslice::example {

constinit const rules::WorkloadKind kAdmission{
    .kind = "Fleet",
    .group = "example.com",
    .version = "v1",
    .path = "/validate-example-com-v1-fleet",
    .validate = validate_fleet,
    .warn = warn_fleet,
    .pod_label = kFleetName,
    .identify = identify_pod,
};

rules::WorkloadKinds own_kinds() {
  static constexpr std::array kOwn = {&kAdmission};
  return kOwn;
}

}  // namespace tpuslice::example
