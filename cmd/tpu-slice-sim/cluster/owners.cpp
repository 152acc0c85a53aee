#include "cmd/tpu-slice-sim/cluster/owners.h"

#include <algorithm>

namespace tpuslice::sim {

const Json* controller_of(const Json& object) {
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) return &owner;
  }
  return nullptr;
}

std::string controller_uid(const Json& object) {
  const Json* controller = controller_of(object);
  return controller == nullptr ? std::string() : string_at(*controller, {"uid"});
}

bool owned_by(const Json& object, const std::string& uid) {
  const Json& owners = array_at(object, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(),
                     [&uid](const Json& owner) { return string_at(owner, {"uid"}) == uid; });
}

Json controller_reference(const Json& owner) {
  return {{"apiVersion", string_at(owner, {"apiVersion"})},
          {"kind", string_at(owner, {"kind"})},
          {"name", string_at(owner, {"metadata", "name"})},
          {"uid", string_at(owner, {"metadata", "uid"})},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

void add_owner(Json& object, Json reference) {
  Json& owners = object["metadata"]["ownerReferences"];
  if (!owners.is_array()) owners = Json::array();
  owners.push_back(std::move(reference));
}

void remove_owner(Json& object, const std::string& uid) {
  Json kept = Json::array();
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (string_at(owner, {"uid"}) != uid) kept.push_back(owner);
  }
  if (kept.empty()) {
    object["metadata"].erase("ownerReferences");
  } else {
    object["metadata"]["ownerReferences"] = std::move(kept);
  }
}

void Dependents::observe(const Change& change) {
  const auto index = [this, &change](const Json& object) -> std::pair<Index&, std::string> {
    const std::string uid = controller_uid(object);
    if (uid.empty()) return {orphans_, change.key.namespace_name};
    return {by_controller_, uid};
  };
  for (const JsonPtr& state : {change.previous, change.object}) {
    if (state == nullptr) continue;
    const auto [where, name] = index(*state);
    const auto found = where.find(name);
    if (found == where.end()) continue;
    found->second.erase(change.key);
    if (found->second.empty()) where.erase(found);
  }
  if (change.type == ChangeType::kDeleted) return;
  const auto [where, name] = index(*change.object);
  where[name].insert(change.key);
}

void Dependents::clear() {
  by_controller_.clear();
  orphans_.clear();
}

const std::set<ObjectKey>& Dependents::in(const Index& index, const std::string& name) {
  static const std::set<ObjectKey> kNone;
  const auto found = index.find(name);
  return found == index.end() ? kNone : found->second;
}

}  // namespace tpuslice::sim
