// Conditions: entries of a status.conditions list, written only when they change.
#pragma once

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

struct Condition {
  std::string type;
  std::string status;  ///< True, False or Unknown.
  std::string reason;  ///< Omitted if empty, like the message.
  std::string message;
};

/// Adds or replaces the condition of that type in `status`; lastTransitionTime changes only with the status.
/// False if nothing changed.
bool set_condition(Json& status, const Condition& condition, Timestamp now);

/// The `status` of a condition, empty if there is none.
[[nodiscard]] std::string condition_status(const Json& object, std::string_view type);

}  // namespace tpuslice::sim
