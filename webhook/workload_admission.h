// Admission of the workload objects themselves: which rules hold for which kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "webhook/admission_review.h"
#include "webhook/rules/unserved_field.h"

namespace tpuslice::webhook {

/// One kind whose objects are validated. Objects of another controller's are judged by the same rules, less those about
/// fields that only ours does not serve.
struct WorkloadRules {
  std::string_view group;
  std::string_view kind;
  std::string_view path;  ///< Where the API server posts its reviews.
  /// What is wrong with an object; the second is the stored one on an update, else null.
  std::vector<FieldError> (*errors)(const Json&, const Json*);
  std::vector<UnservedField> (*unserved)(const Json&);
  std::vector<std::string> (*warnings)(const Json&, const Json*);
};

[[nodiscard]] const std::vector<WorkloadRules>& workload_rules();

/// Creation or update of an object of that kind: allowed, or 422 with everything that is wrong. An update that leaves
/// alone what was wrong already is let through, so that an object which is older than the rules can still be labelled,
/// finalized and deleted. `served`: our controller serves the kind.
[[nodiscard]] AdmissionResponse admit_workload(const AdmissionRequest& request, const WorkloadRules& rules,
                                               bool served);

}  // namespace tpuslice::webhook
