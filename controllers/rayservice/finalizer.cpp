#include "controllers/rayservice/finalizer.h"

#include <algorithm>
#include <utility>

#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/spec.h"

namespace tpuslice::rayservice {
namespace {

const Json& finalizers_of(const Object& service) { return array_at(service.json(), {"metadata", "finalizers"}); }

bool lists(const Object& service, std::string_view finalizer) {
  const Json& all = finalizers_of(service);
  return std::ranges::find(all, Json(finalizer)) != all.end();
}

/// A merge patch replaces the list.
plan::Action patch_finalizers(const Object& service, Json finalizers) {
  plan::Action action =
      plan::Action::patch(kRayServices, service.key(), {{"metadata", {{"finalizers", std::move(finalizers)}}}},
                          {.uid = service.uid(), .resource_version = service.resource_version()});
  action.failure_reason = kFailedFinalizer;
  return action;
}

}  // namespace

bool has_finalizer(const Object& service) { return lists(service, kFinalizer); }

bool leaves_orphans(const Object& service) { return lists(service, "orphan"); }

plan::Action add_finalizer(const Object& service) {
  Json all = finalizers_of(service);
  all.push_back(Json(kFinalizer));
  return patch_finalizers(service, std::move(all));
}

plan::Action remove_finalizer(const Object& service) {
  Json kept = Json::array();
  for (const Json& each : finalizers_of(service)) {
    if (each != Json(kFinalizer)) kept.push_back(each);
  }
  return patch_finalizers(service, std::move(kept));
}

}  // namespace tpuslice::rayservice
