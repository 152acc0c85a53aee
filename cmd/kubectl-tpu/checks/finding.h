// Finding: what one check of an installation found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/text_table.h"
#include "api/types/json.h"

namespace tpuslice::plugin {

enum class Verdict : std::uint8_t {
  kOk,
  kUnknown,  ///< The user may not read what the check needs.
  kWarning,  ///< It works, but someone should look.
  kFailure,  ///< Something does not work.
};

struct Finding {
  std::string check;  ///< "webhook"
  Verdict verdict = Verdict::kOk;
  std::string text;
  std::string next = {};  ///< The command that repairs it or shows more; empty: none.
};

/// "ok", "unknown", "warning", "failure".
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// A finding for an error: unknown, with the command that grants the right, if it is a missing right.
[[nodiscard]] Finding finding_of(std::string check, const Error& error, Verdict verdict = Verdict::kFailure);

[[nodiscard]] TextTable findings_table(const std::vector<Finding>& findings);
/// The version of the document is "tpuslice.dev/findings.v1".
[[nodiscard]] Json findings_document(const std::vector<Finding>& findings);
[[nodiscard]] bool has(const std::vector<Finding>& findings, Verdict verdict);

}  // namespace tpuslice::plugin
