#include "webhook/workload_admission.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tpu/rules/pod_warnings.h"

namespace tpuslice::webhook {
namespace {

/// Fields that `old`, if there is one, does not use in the same way.
void check_supported(const rules::WorkloadKind& kind, const Json& object, const Json* old, rules::FieldErrors& errors) {
  std::vector<rules::UnsupportedField> before;
  if (old != nullptr) before = kind.unsupported_fields(*old);
  for (const rules::UnsupportedField& field : kind.unsupported_fields(object)) {
    if (std::ranges::find(before, field) != before.end()) continue;
    errors.push_back(rules::forbidden(
        field.path, fmt::format("is not supported by tpu-slice-operator: {}", field.reason), rules::kOurRule));
  }
}

}  // namespace

AdmissionResponse admit_workload(const AdmissionRequest& request, const rules::WorkloadKind& kind, bool served) {
  AdmissionResponse response;
  const bool is_kind = request.kind == kind.kind && request.group == kind.group && request.subresource.empty();
  const bool update = request.operation == "UPDATE";
  if (!is_kind || (request.operation != "CREATE" && !update)) return response;
  const Json* old = update && request.old_object.is_object() ? &request.old_object : nullptr;
  rules::FieldErrors errors = kind.validate(request.object, old);
  if (served && kind.unsupported_fields != nullptr) check_supported(kind, request.object, old, errors);
  if (!errors.empty()) response = refuse(request, errors);
  response.warnings = kind.warn(request.object, old);
  for (auto* const warn :
       {&rules::warn_unknown_accelerators, &rules::warn_invalid_annotations, &rules::warn_missing_tpu_requests}) {
    for (std::string& warning : warn(request.object)) response.warnings.push_back(std::move(warning));
  }
  return response;
}

}  // namespace tpuslice::webhook
