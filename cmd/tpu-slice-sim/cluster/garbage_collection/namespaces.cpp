#include "cmd/tpu-slice-sim/cluster/garbage_collection/namespaces.h"

#include <algorithm>

#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kRootCa = "kube-root-ca.crt";

constexpr std::string_view kNamespaceController = "namespace-controller";

}  // namespace

Namespaces::Namespaces(Registry& registry, std::string ca)
    : registry_(registry),
      ca_(std::move(ca)),
      feed_(
          registry.storage(),
          [] {
            return std::vector<std::string>{"configmaps", "namespaces", "serviceaccounts"};
          },
          false) {}

bool Namespaces::step() {
  for (const Change& change : feed_.take().changes) {
    if (change.resource == "namespaces") {
      dirty_.insert(change.key.name);
      const bool leaving = change.type != ChangeType::kDeleted && terminating(*change.object);
      if (leaving) terminating_.insert(change.key.name);
      if (change.type == ChangeType::kDeleted) terminating_.erase(change.key.name);
    } else if (change.type == ChangeType::kDeleted || terminating_.count(change.key.namespace_name) != 0) {
      const bool furniture = change.key.name == "default" || change.key.name == kRootCa;
      if (furniture || terminating_.count(change.key.namespace_name) != 0) dirty_.insert(change.key.namespace_name);
    }
  }
  bool wrote = false;
  for (const std::string& name : std::exchange(dirty_, {})) {
    const JsonPtr space = registry_.storage().get("namespaces", {"", name});
    if (space == nullptr) continue;
    wrote |= terminating(*space) ? empty(*space) : furnish(name);
  }
  return wrote;
}

bool Namespaces::furnish(const std::string& name) {
  bool wrote = false;
  const auto ensure = [&](const char* id, const char* kind, const char* object_name, const Json& data) {
    if (registry_.storage().get(id, {name, object_name}) != nullptr) return;
    Json body = {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", object_name}, {"namespace", name}}}};
    if (!data.is_null()) body["data"] = data;
    wrote |=
        registry_.create(*registry_.resources().find_id(id), Object(body), as_controller(kNamespaceController)).ok();
  };
  ensure("serviceaccounts", "ServiceAccount", "default", nullptr);
  ensure("configmaps", "ConfigMap", kRootCa, {{"ca.crt", ca_}});
  return wrote;
}

bool Namespaces::empty(const Json& space) {
  const std::string name = string_at(space, {"metadata", "name"});
  bool wrote = false;
  std::size_t left = 0;
  std::set<std::string> done;
  for (const ResourcePtr& resource : registry_.resources().list()) {
    if (!resource->namespaced || !done.insert(resource->id()).second) continue;
    for (const JsonPtr& object : registry_.storage().list(resource->id(), name)) {
      ++left;
      if (terminating(*object)) continue;
      DeleteOptions options;
      options.write = as_controller(kNamespaceController);
      options.uid = string_at(*object, {"metadata", "uid"});
      wrote |= registry_.remove(*resource, {name, string_at(*object, {"metadata", "name"})}, options).ok();
    }
  }
  if (wrote) {
    dirty_.insert(name);
    return true;
  }
  const Json* finalizers = find_path(space, {"spec", "finalizers"});
  if (left != 0 || finalizers == nullptr || finalizers->empty()) return false;
  return registry_
      .modify(
          *registry_.resources().find_id("namespaces"), {"", name}, "finalize",
          [](Json& json) -> Status {
            json["spec"]["finalizers"] = Json::array();
            return {};
          },
          as_controller(kNamespaceController))
      .ok();
}

}  // namespace tpuslice::sim
