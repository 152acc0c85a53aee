#include "api/types/resource_type.h"

namespace tpuslice {

std::string ResourceType::api_version() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string ResourceType::resource() const {
  return group.empty() ? std::string(plural) : std::string(plural) + "." + std::string(group);
}

std::string ResourceType::path(std::string_view namespace_name, std::string_view name,
                               std::string_view subresource) const {
  std::string path = (group.empty() ? "/api/" : "/apis/") + api_version();
  const auto add = [&](std::string_view part) {
    if (!part.empty()) path.append("/").append(part);
  };
  if (namespaced && !namespace_name.empty()) {
    add("namespaces");
    add(namespace_name);
  }
  add(plural);
  add(name);
  add(subresource);
  return path;
}

}  // namespace tpuslice
