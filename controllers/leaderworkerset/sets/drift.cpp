#include "controllers/leaderworkerset/sets/drift.h"

#include <utility>

#include "api/types/patch.h"
#include "controllers/plan/drift.h"

namespace tpuslice::leaderworkerset {
namespace {

/// The mutable fields that we set.
Json mutable_fields(const Json& set) {
  Json out = {{"metadata", Json::object()}, {"spec", Json::object()}};
  for (const char* map : {"labels", "annotations"}) {
    if (const Json* found = find_path(set, {"metadata", map})) out["metadata"][map] = *found;
  }
  for (const std::string_view member : StatefulSetView::kSettings) {
    if (const Json* found = find_path(set, {"spec", member})) out["spec"][std::string(member)] = *found;
  }
  return out;
}

Json mutable_fields(const StatefulSetView& set) {
  return {{"metadata", {{"labels", set.labels}, {"annotations", set.annotations}}}, {"spec", set.settings}};
}

/// The patch that makes the template the desired one. It removes fields that are only in `live`; the API server sets
/// defaults again.
Json template_patch(const Json& desired, const StatefulSetView& live) {
  const Json* after = find_path(desired, {"spec", "template"});
  return merge_diff(parse_json(live.pod_template).value_or(Json::object()), after == nullptr ? Json::object() : *after);
}

}  // namespace

Json restore_set(const Json& desired, const StatefulSetView& live, PodTemplate pods) {
  Json ours = mutable_fields(desired);
  const Json theirs = mutable_fields(live);
  if (find_path(theirs, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}) == nullptr &&
      find_path(ours, {"spec", "updateStrategy", "rollingUpdate"}) != nullptr) {
    ours["spec"]["updateStrategy"]["rollingUpdate"].erase("maxUnavailable");
  }
  Json patch = plan::restore_patch(ours, theirs);
  if (pods == PodTemplate::kIgnore) return patch;
  if (Json change = template_patch(desired, live); !change.empty()) patch["spec"]["template"] = std::move(change);
  return patch;
}

}  // namespace tpuslice::leaderworkerset
