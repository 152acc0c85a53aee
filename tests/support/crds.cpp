#include "tests/support/crds.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/yaml.h"

namespace tpuslice::testing {

std::vector<Json> read_crds() {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("deploy/crds")) {
    if (entry.path().extension() == ".yaml") paths.insert(entry.path().string());
  }
  std::vector<Json> crds;
  for (const std::string& path : paths) {
    const auto documents = parse_yaml_documents(read_file(path).value());
    for (const YamlDocument& document : documents.value()) crds.push_back(document.value);
  }
  return crds;
}

Json read_crd(const std::string& kind) {
  for (Json& crd : read_crds()) {
    if (string_at(crd, {"spec", "names", "kind"}) == kind) return std::move(crd);
  }
  TPUSLICE_CHECK(false);
  return {};
}

const Json& stored_schema(const Json& crd) {
  const Json& versions = array_at(crd, {"spec", "versions"});
  const auto stored =
      std::find_if(versions.begin(), versions.end(), [](const Json& version) { return bool_at(version, {"storage"}); });
  TPUSLICE_CHECK(stored != versions.end());
  return stored->at("schema").at("openAPIV3Schema");
}

void each_field(const Json& schema, const VisitField& visit, const std::string& path) {
  if (const Json* properties = find_path(schema, {"properties"})) {
    const Json& required = array_at(schema, {"required"});
    for (const auto& [name, field] : properties->items()) {
      const std::string below = path.empty() ? name : path + "." + name;
      const bool needed = std::find(required.begin(), required.end(), Json(name)) != required.end();
      if (visit(below, field, needed)) each_field(field, visit, below);
    }
  }
  if (const Json* items = find_path(schema, {"items"})) each_field(*items, visit, path + "[]");
  if (const Json* values = find_path(schema, {"additionalProperties"})) each_field(*values, visit, path + "{}");
}

bool is_pod_spec(const Json& field) { return find_path(field, {"properties", "containers"}) != nullptr; }

}  // namespace tpuslice::testing
