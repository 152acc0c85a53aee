#include "controllers/leaderworkerset/drift.h"

#include <algorithm>
#include <utility>

#include "api/types/patch.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Whether `live` has all that `wanted` says.
bool says_all(const Json& live, const Json& wanted) {
  if (wanted.is_object()) {
    return live.is_object() && std::ranges::all_of(wanted.items(), [&](const auto& member) {
             const auto found = live.find(member.key());
             const bool nothing = member.value().is_object() && member.value().empty();
             return found == live.end() ? nothing : says_all(*found, member.value());
           });
  }
  if (wanted.is_array()) return live.is_array() && std::ranges::equal(live, wanted, says_all);
  return live == wanted;
}

/// A list is replaced as a whole: the API server sets its elements' defaults again.
Json patch_towards(const Json& wanted, const Json& live) {
  if (!wanted.is_object() || !live.is_object()) return says_all(live, wanted) ? Json() : wanted;
  Json patch;
  for (const auto& [key, value] : wanted.items()) {
    const auto found = live.find(key);
    if (found == live.end()) {
      if (!value.is_object() || !value.empty()) patch[key] = value;
    } else if (Json change = patch_towards(value, *found); !change.is_null()) {
      patch[key] = std::move(change);
    }
  }
  return patch;
}

/// What may be changed of a StatefulSet, and is ours.
Json changeable(const Json& set) {
  Json out = {{"metadata", Json::object()}, {"spec", Json::object()}};
  for (const char* map : {"labels", "annotations"}) {
    if (const Json* found = find_path(set, {"metadata", map})) out["metadata"][map] = *found;
  }
  for (const std::string_view member : StatefulSetView::kSettings) {
    if (const Json* found = find_path(set, {"spec", member})) out["spec"][std::string(member)] = *found;
  }
  return out;
}

Json changeable(const StatefulSetView& set) {
  return {{"metadata", {{"labels", set.labels}, {"annotations", set.annotations}}}, {"spec", set.settings}};
}

/// What it no longer says goes. So do defaults, which the API server sets again.
Json template_patch(const Json& wanted, const StatefulSetView& live) {
  const Json* after = find_path(wanted, {"spec", "template"});
  return merge_diff(parse_json(live.pod_template).value_or(Json::object()), after == nullptr ? Json::object() : *after);
}

}  // namespace

Json restore_set(const Json& wanted, const StatefulSetView& live, PodTemplate pods) {
  Json ours = changeable(wanted);
  const Json theirs = changeable(live);
  if (find_path(theirs, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}) == nullptr &&
      find_path(ours, {"spec", "updateStrategy", "rollingUpdate"}) != nullptr) {
    ours["spec"]["updateStrategy"]["rollingUpdate"].erase("maxUnavailable");
  }
  Json patch = patch_towards(ours, theirs);
  if (pods == PodTemplate::kLeftAlone) return patch;
  if (Json change = template_patch(wanted, live); !change.empty()) patch["spec"]["template"] = std::move(change);
  return patch;
}

}  // namespace tpuslice::leaderworkerset
