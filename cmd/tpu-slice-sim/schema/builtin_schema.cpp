#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {
namespace {

std::string type_of(const Resource& resource) {
  if (resource.kind == "Event" && resource.group.empty()) return "CoreEvent";
  return resource.kind;
}

std::map<std::string, Json, std::less<>> all_schemas() {
  const TypeTable types({meta_types(), pod_types(), volume_types(), core_types(), workload_types(), policy_types()});
  Json meta = types.schema("ObjectMeta");
  meta["description"] = "Standard object metadata.";
  std::map<std::string, Json, std::less<>> schemas;
  for (const Resource& resource : builtin_resources()) {
    Json schema = types.schema(type_of(resource));
    schema["properties"]["apiVersion"] = {{"type", "string"}, {"description", "Group and version of this form."}};
    schema["properties"]["kind"] = {{"type", "string"}, {"description", "Kind of the object."}};
    schema["properties"]["metadata"] = meta;
    schema["x-kubernetes-group-version-kind"] =
        Json::array({{{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}});
    schemas[resource.id()] = std::move(schema);
  }
  return schemas;
}

}  // namespace

const Json& builtin_schema(const Resource& resource) {
  static const Json kNone;
  static const std::map<std::string, Json, std::less<>> kSchemas = all_schemas();
  if (resource.custom) return kNone;
  const auto found = kSchemas.find(resource.id());
  return found == kSchemas.end() ? kNone : found->second;
}

}  // namespace tpuslice::sim
