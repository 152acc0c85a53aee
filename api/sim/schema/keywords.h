// What a schema says under one of its keywords.
#pragma once

#include "api/types/json.h"

namespace tpuslice::sim {

/// nullptr where the schema does not have it.
[[nodiscard]] inline const Json* keyword(const Json& schema, const char* name) {
  if (!schema.is_object()) return nullptr;
  const auto found = schema.find(name);
  return found == schema.end() ? nullptr : &*found;
}

/// Whether it has it, and as `true`.
[[nodiscard]] inline bool flag(const Json& schema, const char* name) {
  const Json* value = keyword(schema, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace tpuslice::sim
