#include "tpu/rules/refusal.h"

namespace tpuslice::rules {

Problem refusal(const FieldErrors& errors, const std::vector<UnsupportedField>& unsupported) {
  if (!errors.empty()) return {"InvalidSpec", to_message(errors)};
  if (unsupported.empty()) return {};
  Problem out{"UnsupportedField"};
  for (const UnsupportedField& field : unsupported) {
    out.message += (out.message.empty() ? "" : "; ") + field.path + ": " + field.reason;
  }
  return out;
}

}  // namespace tpuslice::rules
