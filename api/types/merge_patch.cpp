#include "api/types/patch.h"

namespace tpuslice {

Json apply_merge_patch(Json document, const Json& patch) {
  document.merge_patch(patch);
  return document;
}

Json merge_diff(const Json& before, const Json& after) {
  if (!before.is_object() || !after.is_object()) return after;
  Json patch = Json::object();
  for (const auto& [key, old_value] : before.items()) {
    const auto found = after.find(key);
    if (found == after.end() || found->is_null()) {
      if (!old_value.is_null() || found == after.end()) patch[key] = nullptr;
    } else if (*found != old_value) {
      patch[key] = merge_diff(old_value, *found);
    }
  }
  for (const auto& [key, new_value] : after.items()) {
    if (!before.contains(key) && !new_value.is_null()) patch[key] = new_value;
  }
  return patch;
}

}  // namespace tpuslice
