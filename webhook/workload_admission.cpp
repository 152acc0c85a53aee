#include "webhook/workload_admission.h"

#include <utility>

#include <fmt/format.h>

#include "webhook/rules/jobset/validator.h"
#include "webhook/rules/leaderworkerset/validator.h"
#include "webhook/rules/raycluster/validator.h"

namespace tpuslice::webhook {
namespace {

std::vector<std::string> raycluster_warnings(const Json& cluster, const Json*) { return warn_raycluster(cluster); }
std::vector<std::string> jobset_warnings(const Json& jobset, const Json*) { return warn_jobset(jobset); }
std::vector<UnservedField> none_unserved(const Json&) { return {}; }

std::vector<FieldError> unserved_errors(const WorkloadRules& rules, const Json& object) {
  std::vector<FieldError> errors;
  for (const UnservedField& field : rules.unserved(object)) {
    errors.push_back(
        forbidden(field.path, fmt::format("is not served by tpu-slice-operator: {}", field.reason), kOurRule));
  }
  return errors;
}

}  // namespace

const std::vector<WorkloadRules>& workload_rules() {
  static const std::vector<WorkloadRules> all = {
      {"ray.io", "RayCluster", "/validate-ray-io-v1-raycluster", validate_raycluster, unserved_fields,
       raycluster_warnings},
      {"jobset.x-k8s.io", "JobSet", "/validate-jobset-x-k8s-io-v1alpha2-jobset", validate_jobset,
       unserved_jobset_fields, jobset_warnings},
      {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
       validate_leaderworkerset, none_unserved, warn_leaderworkerset},
  };
  return all;
}

AdmissionResponse admit_workload(const AdmissionRequest& request, const WorkloadRules& rules, bool served) {
  AdmissionResponse response;
  const bool is_kind = request.kind == rules.kind && request.group == rules.group && request.subresource.empty();
  const bool update = request.operation == "UPDATE";
  if (!is_kind || (request.operation != "CREATE" && !update)) return response;
  const Json* old = update && request.old_object.is_object() ? &request.old_object : nullptr;
  std::vector<FieldError> errors = rules.errors(request.object, old);
  if (served) {
    std::vector<FieldError> unserved = unserved_errors(rules, request.object);
    if (old != nullptr) unserved = new_errors(std::move(unserved), unserved_errors(rules, *old));
    errors.insert(errors.end(), unserved.begin(), unserved.end());
  }
  if (!errors.empty()) response = refuse(request, std::move(errors));
  response.warnings = rules.warnings(request.object, old);
  return response;
}

}  // namespace tpuslice::webhook
