// Conditions: the array of metav1.Condition in a status, with the rules of upstream's meta.SetStatusCondition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice {

struct Condition {
  std::string type;
  std::string status;  ///< "True", "False" or "Unknown".
  std::string reason;
  std::string message;
  std::optional<std::int64_t> observed_generation;
};

/// Why a condition is False. Without a reason there is no problem, and the condition is True.
struct Problem {
  std::string reason = {};   ///< "InvalidSpec"
  std::string message = {};  ///< What is wrong, and what to do next.

  explicit operator bool() const { return !reason.empty(); }
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Bytes of a message; a longer one is cut. The API server accepts 32 KiB.
inline constexpr std::size_t kMaxConditionMessage = 4096;

/// Adds the condition or brings the one of its type up to date; lastTransitionTime becomes `now` only when the status
/// changes. Null or ill-typed `conditions` become an array. Returns whether anything changed.
bool set_condition(Json& conditions, const Condition& condition, Timestamp now);

/// Returns whether there was one.
bool remove_condition(Json& conditions, std::string_view type);

/// Null when absent.
[[nodiscard]] const Json* find_condition(const Json& conditions, std::string_view type);

/// "True", "False", "Unknown"; "" when absent.
[[nodiscard]] std::string condition_status(const Json& conditions, std::string_view type);

/// Whether the condition is there and its status is "True".
[[nodiscard]] bool is_condition_true(const Json& conditions, std::string_view type);

}  // namespace tpuslice
