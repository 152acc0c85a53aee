#include "cmd/kubectl-tpu/checks/migration.h"

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/object.h"

namespace tpuslice::plugin {
namespace {

std::string and_more(std::size_t count) { return count > 1 ? fmt::format(" (and {} more)", count - 1) : ""; }

}  // namespace

Finding check_object(const kind::Kind& kind, const Json& object) {
  const Object typed(object);
  Finding finding{fmt::format("{}/{} -n {}", to_lower(kind.type.kind), typed.name(), typed.namespace_name())};
  const rules::WorkloadKind& admission = kind.admission;
  if (admission.validate != nullptr) {
    if (const rules::FieldErrors errors = admission.validate(object, nullptr); !errors.empty()) {
      finding.verdict = Verdict::kFailure;
      finding.text = "would be refused: " + errors.begin()->to_string() + and_more(errors.size());
      return finding;
    }
  }
  if (admission.unsupported_fields != nullptr) {
    if (const auto fields = admission.unsupported_fields(object); !fields.empty()) {
      finding.verdict = Verdict::kFailure;
      finding.text =
          fmt::format("{} is not supported: {}{}", fields.front().path, fields.front().reason, and_more(fields.size()));
      return finding;
    }
  }
  if (admission.warn != nullptr) {
    if (const auto warnings = admission.warn(object, nullptr); !warnings.empty()) {
      finding.verdict = Verdict::kWarning;
      finding.text = warnings.front() + and_more(warnings.size());
    }
  }
  return finding;
}

std::vector<Finding> check_objects(const kind::Kind& kind, const std::vector<Json>& objects, std::size_t limit) {
  std::vector<Finding> found;
  std::size_t failures = 0;
  std::size_t warnings = 0;
  for (const Json& object : objects) {
    Finding finding = check_object(kind, object);
    if (finding.verdict == Verdict::kOk) continue;
    (finding.verdict == Verdict::kFailure ? failures : warnings)++;
    if (found.size() < limit) found.push_back(std::move(finding));
  }
  const Verdict verdict = failures > 0 ? Verdict::kFailure : warnings > 0 ? Verdict::kWarning : Verdict::kOk;
  found.push_back(
      {std::string(kind.type.plural), verdict,
       fmt::format("{} objects: {} cannot be taken over, {} with warnings", objects.size(), failures, warnings)});
  return found;
}

}  // namespace tpuslice::plugin
