#include "cmd/tpu-slice-sim/resources/resources.h"

#include <fmt/format.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"

namespace tpuslice::sim {
namespace {

std::string path_of(std::string_view group, std::string_view version, std::string_view plural) {
  return fmt::format("{}/{}/{}", group, version, plural);
}

std::vector<std::string> strings_at(const Json& json, std::initializer_list<std::string_view> path) {
  std::vector<std::string> found;
  const Json* list = find_path(json, path);
  if (list == nullptr || !list->is_array()) return found;
  for (const Json& each : *list) {
    if (each.is_string()) found.push_back(each.get<std::string>());
  }
  return found;
}

Error invalid(const std::string& name, const std::string& problem) {
  return Error::of(ErrorCode::kInvalid, "CustomResourceDefinition.apiextensions.k8s.io \"{}\" is invalid: {}", name,
                   problem)
      .with_reason("Invalid");
}

/// Errors: Invalid, with the first field that prevents serving the CRD.
Status check_crd(const Json& crd) {
  const std::string name = string_at(crd, {"metadata", "name"});
  for (const char* field : {"group", "scope"}) {
    if (string_at(crd, {"spec", field}).empty()) return invalid(name, fmt::format("spec.{}: Required value", field));
  }
  for (const char* field : {"plural", "kind"}) {
    if (string_at(crd, {"spec", "names", field}).empty()) {
      return invalid(name, fmt::format("spec.names.{}: Required value", field));
    }
  }
  const std::string scope = string_at(crd, {"spec", "scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    return invalid(
        name,
        fmt::format("spec.scope: Unsupported value: \"{}\": supported values: \"Cluster\", \"Namespaced\"", scope));
  }
  const std::string wanted = string_at(crd, {"spec", "names", "plural"}) + "." + string_at(crd, {"spec", "group"});
  if (name != wanted) {
    return invalid(
        name, fmt::format("metadata.name: Invalid value: \"{}\": must be spec.names.plural+\".\"+spec.group", name));
  }
  const Json* versions = find_path(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array() || versions->empty()) {
    return invalid(name, "spec.versions: Required value");
  }
  int storage_versions = 0;
  for (std::size_t i = 0; i < versions->size(); ++i) {
    const Json& version = (*versions)[i];
    if (string_at(version, {"name"}).empty())
      return invalid(name, fmt::format("spec.versions[{}].name: Required value", i));
    if (find_path(version, {"schema", "openAPIV3Schema"}) == nullptr) {
      return invalid(name, fmt::format("spec.versions[{}].schema.openAPIV3Schema: Required value", i));
    }
    const Json* stored = find_path(version, {"storage"});
    if (stored != nullptr && *stored == true) ++storage_versions;
  }
  if (storage_versions != 1) {
    return invalid(name, "spec.versions: Invalid value: must have exactly one version marked as storage version");
  }
  return {};
}

std::vector<PrinterColumn> columns_of(const Json& version) {
  std::vector<PrinterColumn> columns;
  const Json* listed = find_path(version, {"additionalPrinterColumns"});
  if (listed == nullptr || !listed->is_array()) return columns;
  for (const Json& each : *listed) {
    PrinterColumn column{string_at(each, {"name"}), string_at(each, {"type"}), string_at(each, {"jsonPath"}),
                         string_at(each, {"description"}), 0};
    if (const Json* priority = find_path(each, {"priority"}); priority != nullptr && priority->is_number_integer()) {
      column.priority = priority->get<int>();
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

Resource resource_of(const Json& crd, const Json& version) {
  Resource resource;
  resource.group = string_at(crd, {"spec", "group"});
  resource.version = string_at(version, {"name"});
  resource.kind = string_at(crd, {"spec", "names", "kind"});
  resource.list_kind = string_at(crd, {"spec", "names", "listKind"}, resource.kind + "List");
  resource.plural = string_at(crd, {"spec", "names", "plural"});
  resource.singular = string_at(crd, {"spec", "names", "singular"});
  if (resource.singular.empty()) resource.singular = to_lower(resource.kind);
  resource.short_names = strings_at(crd, {"spec", "names", "shortNames"});
  resource.categories = strings_at(crd, {"spec", "names", "categories"});
  resource.namespaced = string_at(crd, {"spec", "scope"}) == "Namespaced";
  resource.custom = true;
  resource.has_status = find_path(version, {"subresources", "status"}) != nullptr;
  if (find_path(version, {"subresources", "scale"}) != nullptr) {
    resource.scale = ScalePaths{string_at(version, {"subresources", "scale", "specReplicasPath"}),
                                string_at(version, {"subresources", "scale", "statusReplicasPath"}),
                                string_at(version, {"subresources", "scale", "labelSelectorPath"})};
  }
  resource.columns = columns_of(version);
  if (const Json* schema = find_path(version, {"schema", "openAPIV3Schema"}); schema != nullptr) {
    resource.schema = *schema;
  }
  return resource;
}

}  // namespace

Resources::Resources() {
  for (Resource& resource : builtin_resources()) {
    const std::string path = path_of(resource.group, resource.version, resource.plural);
    resources_[path] = std::make_shared<const Resource>(std::move(resource));
  }
}

ResourcePtr Resources::find(std::string_view group, std::string_view version, std::string_view plural) const {
  const MutexLock lock(mutex_);
  const auto found = resources_.find(path_of(group, version, plural));
  return found == resources_.end() ? nullptr : found->second;
}

ResourcePtr Resources::find_kind(std::string_view api_version, std::string_view kind) const {
  const MutexLock lock(mutex_);
  for (const auto& [path, resource] : resources_) {
    if (resource->kind == kind && resource->api_version() == api_version) return resource;
  }
  return nullptr;
}

ResourcePtr Resources::find_id(std::string_view id) const {
  const MutexLock lock(mutex_);
  for (const auto& [path, resource] : resources_) {
    if (resource->id() == id) return resource;
  }
  return nullptr;
}

std::vector<ResourcePtr> Resources::list() const {
  const MutexLock lock(mutex_);
  std::vector<ResourcePtr> all;
  all.reserve(resources_.size());
  for (const auto& [path, resource] : resources_) all.push_back(resource);
  return all;
}

Status Resources::add_crd(const Json& crd) {
  RETURN_IF_ERROR(check_crd(crd));
  std::map<std::string, ResourcePtr> served;
  for (const Json& version : crd.at("spec").at("versions")) {
    const Json* flag = find_path(version, {"served"});
    if (flag == nullptr || *flag != true) continue;
    Resource resource = resource_of(crd, version);
    const std::string path = path_of(resource.group, resource.version, resource.plural);
    served[path] = std::make_shared<const Resource>(std::move(resource));
  }
  remove_crd(crd);
  const MutexLock lock(mutex_);
  for (auto& [path, resource] : served) resources_[path] = std::move(resource);
  return {};
}

void Resources::remove_crd(const Json& crd) {
  const std::string id = string_at(crd, {"spec", "names", "plural"}) + "." + string_at(crd, {"spec", "group"});
  const MutexLock lock(mutex_);
  std::erase_if(resources_, [&id](const auto& entry) { return entry.second->custom && entry.second->id() == id; });
}

}  // namespace tpuslice::sim
