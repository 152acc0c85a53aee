#include "api/types/object.h"

namespace tpuslice {

std::string ObjectKey::to_string() const { return namespace_name.empty() ? name : namespace_name + "/" + name; }

Json ControllerRef::to_json(bool block_owner_deletion) const {
  Json json = {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true}};
  if (block_owner_deletion) json["blockOwnerDeletion"] = true;
  return json;
}

std::string Object::api_version() const { return string_at(json_, {"apiVersion"}); }
std::string Object::kind() const { return string_at(json_, {"kind"}); }
ObjectKey Object::key() const { return {namespace_name(), name()}; }
std::string Object::name() const { return string_at(json_, {"metadata", "name"}); }
std::string Object::namespace_name() const { return string_at(json_, {"metadata", "namespace"}); }
std::string Object::uid() const { return string_at(json_, {"metadata", "uid"}); }
std::string Object::resource_version() const { return string_at(json_, {"metadata", "resourceVersion"}); }
std::int64_t Object::generation() const { return int_at(json_, {"metadata", "generation"}); }

std::optional<Timestamp> Object::deletion_timestamp() const {
  return parse_rfc3339(string_at(json_, {"metadata", "deletionTimestamp"}));
}

std::string Object::label(std::string_view key) const { return string_at(json_, {"metadata", "labels", key}); }
std::string Object::annotation(std::string_view key) const {
  return string_at(json_, {"metadata", "annotations", key});
}

std::optional<ControllerRef> Object::controller() const {
  const Json* owners = find_path(json_, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return std::nullopt;
  for (const Json& owner : *owners) {
    if (!bool_at(owner, {"controller"})) continue;
    return ControllerRef{.api_version = string_at(owner, {"apiVersion"}),
                         .kind = string_at(owner, {"kind"}),
                         .name = string_at(owner, {"name"}),
                         .uid = string_at(owner, {"uid"})};
  }
  return std::nullopt;
}

ControllerRef Object::as_controller() const {
  return {.api_version = api_version(), .kind = kind(), .name = name(), .uid = uid()};
}

}  // namespace tpuslice
