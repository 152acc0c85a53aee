#include "controllers/plan/finalizers.h"

#include <algorithm>
#include <utility>

namespace tpuslice::plan {
namespace {

const Json& finalizers_of(const Object& object) { return array_at(object.json(), {"metadata", "finalizers"}); }

Action patch_finalizers(const ResourceType& type, const Object& object, Json finalizers) {
  Action action = Action::patch(type, object.key(), {{"metadata", {{"finalizers", std::move(finalizers)}}}},
                                {.uid = object.uid(), .resource_version = object.resource_version()});
  action.failure_reason = "FailedFinalizer";
  return action;
}

}  // namespace

bool has_finalizer(const Object& object, std::string_view finalizer) {
  const Json& all = finalizers_of(object);
  return std::ranges::find(all, Json(finalizer)) != all.end();
}

Action add_finalizer(const ResourceType& type, const Object& object, std::string_view finalizer) {
  Json all = finalizers_of(object);
  all.push_back(Json(finalizer));
  return patch_finalizers(type, object, std::move(all));
}

Action remove_finalizer(const ResourceType& type, const Object& object, std::string_view finalizer) {
  Json kept = Json::array();
  for (const Json& each : finalizers_of(object)) {
    if (each != Json(finalizer)) kept.push_back(each);
  }
  return patch_finalizers(type, object, std::move(kept));
}

}  // namespace tpuslice::plan
