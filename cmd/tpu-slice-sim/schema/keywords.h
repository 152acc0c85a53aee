// Access to the keywords of a schema.
#pragma once

#include "api/types/json.h"

namespace tpuslice::sim {

/// nullptr if absent.
[[nodiscard]] inline const Json* keyword(const Json& schema, const char* name) {
  if (!schema.is_object()) return nullptr;
  const auto found = schema.find(name);
  return found == schema.end() ? nullptr : &*found;
}

/// Whether the keyword is `true`.
[[nodiscard]] inline bool flag(const Json& schema, const char* name) {
  const Json* value = keyword(schema, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace tpuslice::sim
