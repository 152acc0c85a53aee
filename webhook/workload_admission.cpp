#include "webhook/workload_admission.h"

#include <utility>

#include <fmt/format.h>

#include "webhook/rules/accelerator_warnings.h"
#include "webhook/rules/annotation_warnings.h"

namespace tpuslice::webhook {
namespace {

std::vector<FieldError> unsupported_errors(const WorkloadKind& kind, const Json& object) {
  std::vector<FieldError> errors;
  for (const UnsupportedField& field : kind.unsupported_fields(object)) {
    errors.push_back(
        forbidden(field.path, fmt::format("is not supported by tpu-slice-operator: {}", field.reason), kOurRule));
  }
  return errors;
}

}  // namespace

AdmissionResponse admit_workload(const AdmissionRequest& request, const WorkloadKind& kind, bool served) {
  AdmissionResponse response;
  const bool is_kind = request.kind == kind.kind && request.group == kind.group && request.subresource.empty();
  const bool update = request.operation == "UPDATE";
  if (!is_kind || (request.operation != "CREATE" && !update)) return response;
  const Json* old = update && request.old_object.is_object() ? &request.old_object : nullptr;
  std::vector<FieldError> errors = kind.validate(request.object, old);
  if (served && kind.unsupported_fields != nullptr) {
    std::vector<FieldError> unsupported = unsupported_errors(kind, request.object);
    if (old != nullptr) unsupported = new_errors(std::move(unsupported), unsupported_errors(kind, *old));
    errors.insert(errors.end(), unsupported.begin(), unsupported.end());
  }
  if (!errors.empty()) response = refuse(request, std::move(errors));
  response.warnings = kind.warn(request.object, old);
  for (auto* const warn : {&warn_unknown_accelerators, &warn_invalid_annotations}) {
    for (std::string& warning : warn(request.object)) response.warnings.push_back(std::move(warning));
  }
  return response;
}

}  // namespace tpuslice::webhook
