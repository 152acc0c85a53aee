#include "cmd/kubectl-tpu/checks/finding.h"

#include <algorithm>

#include "cmd/kubectl-tpu/missing_rights.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxText = 160;  ///< Characters of a cell; JSON has all.

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kFailure:
      return "failure";
  }
  return "unknown";
}

Finding finding_of(std::string check, const Error& error, Verdict verdict) {
  const bool forbidden = error.code() == ErrorCode::kForbidden;
  return {std::move(check), forbidden ? Verdict::kUnknown : verdict, error.message(), grant_for(error)};
}

TextTable findings_table(const std::vector<Finding>& findings) {
  TextTable table{{"CHECK", "RESULT", "DETAILS"}, {}};
  for (const Finding& each : findings) {
    table.rows.push_back({each.check, std::string(to_string(each.verdict)), cut_text(each.text, kMaxText)});
    if (!each.next.empty()) table.rows.push_back({"", "", "next: " + each.next});
  }
  return table;
}

Json findings_document(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& each : findings) {
    Json entry = {{"check", each.check}, {"result", to_string(each.verdict)}, {"details", each.text}};
    if (!each.next.empty()) entry["next"] = each.next;
    list.push_back(std::move(entry));
  }
  return {{"schema", "tpuslice.dev/findings.v1"}, {"findings", std::move(list)}};
}

bool has(const std::vector<Finding>& findings, Verdict verdict) {
  return std::ranges::any_of(findings, [verdict](const Finding& each) { return each.verdict == verdict; });
}

}  // namespace tpuslice::plugin
