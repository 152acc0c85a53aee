// Helpers and parts of default_builtin().
#pragma once

#include <utility>

#include "api/types/json.h"

namespace tpuslice::sim {

/// Sets a member that is absent or null.
template <typename T>
void set_default(Json& object, const char* name, T&& value) {
  Json& member = object[name];
  if (member.is_null()) member = std::forward<T>(value);
}

/// The member `name`, created as an empty object if absent; nullptr if it is not an object.
inline Json* object_in(Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  Json& member = object[name];
  if (member.is_null()) member = Json::object();
  return member.is_object() ? &member : nullptr;
}

/// Calls `change` with each object of the list `name`, if there is one.
template <typename Change>
void for_each_in(Json& object, const char* name, const Change& change) {
  const auto list = object.find(name);
  if (list == object.end() || !list->is_array()) return;
  for (Json& item : *list) {
    if (item.is_object()) change(item);
  }
}

/// BestEffort, Burstable or Guaranteed: whether every container sets cpu and memory limits, and requests that equal
/// them; and whether any sets either.
[[nodiscard]] std::string qos_class(const Json& spec);

/// Defaults of pods and pod templates.
void default_pod_spec(Json& spec);
/// Defaults of pods only: requests from limits, tolerations, priority, service account, first status.
void default_new_pod(Json& pod);

}  // namespace tpuslice::sim
