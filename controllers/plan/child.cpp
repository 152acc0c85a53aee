#include "controllers/plan/child.h"

#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/patch.h"
#include "controllers/plan/drift.h"

namespace tpuslice::plan {
namespace {

/// The part of a desired object that is compared and restored: labels, annotations and members beside the metadata.
Json restorable(const Json& desired) {
  Json out = desired;
  for (const char* member : {"apiVersion", "kind", "status"}) out.erase(member);
  Json metadata = Json::object();
  for (const char* member : {"labels", "annotations"}) {
    if (const Json* found = find_set(desired, {"metadata", member}); found != nullptr) metadata[member] = *found;
  }
  out["metadata"] = std::move(metadata);
  return out;
}

void restore_exactly(const Json& desired, const Json& live, Json& patch) {
  for (const auto& [member, value] : desired.items()) {
    if (member == "apiVersion" || member == "kind" || member == "metadata" || member == "status") continue;
    const auto found = live.find(member);
    if (found == live.end() || *found == value) continue;
    patch[member] = value.is_object() && found->is_object() ? merge_diff(*found, value) : value;
  }
}

}  // namespace

std::string_view progress(ChildDecision::Kind kind, std::string_view patched) {
  using enum ChildDecision::Kind;
  switch (kind) {
    case kCreate:
      return "is being created";
    case kPatch:
      return patched;
    case kWait:
      return "is being deleted, and is then created again";
    case kNone:
    case kConflict:
      break;
  }
  return {};
}

Ownership ownership(const ControllerRef& owner, const std::optional<ControllerRef>& live) {
  if (!live) return Ownership::kOther;
  if (live->uid == owner.uid) return Ownership::kOwned;
  const bool same_name = live->kind == owner.kind && live->name == owner.name && live->api_version == owner.api_version;
  return same_name ? Ownership::kEarlierOwner : Ownership::kOther;
}

Ownership ownership(const Json& desired, const std::optional<ControllerRef>& live) {
  const std::optional<ControllerRef> owner = Object(desired).controller();
  return owner ? ownership(*owner, live) : Ownership::kOther;
}

std::string describe_owner(const Json& desired, const std::optional<ControllerRef>& live) {
  const Object object(desired);
  return fmt::format("{} {} {}", to_lower(string_at(desired, {"kind"})), object.key().to_string(),
                     live ? fmt::format("belongs to {} {}", live->kind, live->name) : std::string("has no controller"));
}

bool is_orphan(const Json& desired, const ObjectView& live) {
  if (live.controller || live.deletion) return false;
  const Json json = live.object().json();
  const Json* owners = find_set(json, {"metadata", "ownerReferences"});
  return (owners == nullptr || owners->empty()) &&
         has_all(string_map_at(json, {"metadata", "labels"}), string_map_at(desired, {"metadata", "labels"}));
}

ChildDecision adopt(const Json& desired) {
  return {ChildDecision::Kind::kPatch,
          {{"metadata", {{"ownerReferences", *find_path(desired, {"metadata", "ownerReferences"})}}}}};
}

ChildDecision decide_by_owner(const Json& desired, const ObjectView* live,
                              const std::function<Json(const Json& live)>& restore) {
  using Kind = ChildDecision::Kind;
  if (live == nullptr) return {Kind::kCreate};
  if (live->deletion) return {Kind::kWait};
  switch (ownership(desired, live->controller)) {
    case Ownership::kOwned: {
      Json patch = restore(live->object().json());
      return patch.is_null() ? ChildDecision{} : ChildDecision{Kind::kPatch, std::move(patch)};
    }
    case Ownership::kEarlierOwner:
      return {Kind::kWait};
    case Ownership::kOther:
      break;
  }
  return {Kind::kConflict, {}, describe_owner(desired, live->controller)};
}

ChildDecision decide_child(const Json& desired, const ObjectView* live, bool exact) {
  return decide_by_owner(desired, live, [&](const Json& found) {
    Json patch = restore_patch(restorable(desired), found);
    if (exact) restore_exactly(desired, found, patch);
    return patch;
  });
}

}  // namespace tpuslice::plan
