// Requirements: label and node selectors as the scheduler evaluates them (In, NotIn, Exists, DoesNotExist, Gt, Lt).
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"
#include "api/types/views.h"

namespace tpuslice::sim {

struct Requirement {
  std::string key;
  std::string op;
  std::vector<std::string> values;

  /// An unknown operator matches nothing.
  [[nodiscard]] bool matches(const StringMap& labels) const;
};

using Requirements = std::vector<Requirement>;

[[nodiscard]] bool all_match(const Requirements& requirements, const StringMap& labels);

/// The requirements of a metav1.LabelSelector. The empty selector matches everything.
[[nodiscard]] Requirements label_selector(const Json& selector);
/// The requirements of a list of {key, operator, values}.
[[nodiscard]] Requirements expressions(const Json& list);

/// The string members of a JSON object; empty for anything else.
[[nodiscard]] StringMap string_map(const Json* object);

}  // namespace tpuslice::sim
