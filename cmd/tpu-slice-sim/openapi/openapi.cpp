#include "cmd/tpu-slice-sim/openapi/openapi.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"

namespace tpuslice::sim {
namespace {

/// Names of schemas: "io.k8s.api.apps.v1.StatefulSet", "io.ray.v1.RayCluster".
std::string schema_name(const Resource& resource) {
  if (!resource.custom) {
    std::string group = resource.group.empty() ? "core" : resource.group.substr(0, resource.group.find('.'));
    return fmt::format("io.k8s.api.{}.{}.{}", group, resource.version, resource.kind);
  }
  std::string reversed;
  std::string_view group = resource.group;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    reversed += std::string(group.substr(start)) + ".";
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return fmt::format("{}{}.{}", reversed, resource.version, resource.kind);
}

Json kind_of(const Resource& resource, const std::string& kind) {
  return {{"group", resource.group}, {"version", resource.version}, {"kind", kind}};
}

constexpr const char* kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr const char* kListMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

Json reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json text(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json string_map(const char* description) {
  return {{"type", "object"},
          {"description", description},
          {"additionalProperties", {{"type", "string"}, {"default", ""}}}};
}

Json object_meta() {
  const Json owner = {{"type", "object"},
                      {"x-kubernetes-map-type", "atomic"},
                      {"required", Json::array({"apiVersion", "kind", "name", "uid"})},
                      {"properties",
                       {{"apiVersion", text("API version of the referent.")},
                        {"kind", text("Kind of the referent.")},
                        {"name", text("Name of the referent.")},
                        {"uid", text("UID of the referent.")},
                        {"controller", {{"type", "boolean"}}},
                        {"blockOwnerDeletion", {{"type", "boolean"}}}}}};
  return {{"type", "object"},
          {"description", "ObjectMeta is metadata that all persisted resources must have."},
          {"properties",
           {{"name", text("Name must be unique within a namespace.")},
            {"generateName", text("A prefix the server makes a unique name from when name is not given.")},
            {"namespace", text("The space within which each name must be unique.")},
            {"uid", text("Unique in time and space; set by the server.")},
            {"resourceVersion", text("The internal version of this object; opaque to clients.")},
            {"selfLink", text("Deprecated.")},
            {"generation", {{"type", "integer"}, {"format", "int64"}, {"description", "Counts changes of the spec."}}},
            {"creationTimestamp", {{"type", "string"}, {"format", "date-time"}}},
            {"deletionTimestamp", {{"type", "string"}, {"format", "date-time"}}},
            {"deletionGracePeriodSeconds", {{"type", "integer"}, {"format", "int64"}}},
            {"labels", string_map("Keys and values to select objects by.")},
            {"annotations", string_map("Keys and values that tools keep with the object.")},
            {"finalizers",
             {{"type", "array"},
              {"items", {{"type", "string"}}},
              {"x-kubernetes-list-type", "set"},
              {"x-kubernetes-patch-strategy", "merge"}}},
            {"ownerReferences",
             {{"type", "array"},
              {"items", owner},
              {"x-kubernetes-list-type", "map"},
              {"x-kubernetes-list-map-keys", Json::array({"uid"})},
              {"x-kubernetes-patch-merge-key", "uid"},
              {"x-kubernetes-patch-strategy", "merge"}}},
            {"managedFields",
             {{"type", "array"},
              {"items", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}},
              {"x-kubernetes-list-type", "atomic"}}}}}};
}

Json list_meta() {
  return {{"type", "object"},
          {"properties",
           {{"continue", {{"type", "string"}}},
            {"remainingItemCount", {{"type", "integer"}, {"format", "int64"}}},
            {"resourceVersion", {{"type", "string"}}},
            {"selfLink", {{"type", "string"}}}}}};
}

Json schema_of(const Resource& resource) {
  Json schema = resource.custom ? resource.schema : builtin_schema(resource);
  if (!schema.is_object()) schema = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  Json& properties = schema["properties"];
  if (!properties.is_object()) properties = Json::object();
  properties["apiVersion"] = text("The versioned schema of this representation of an object.");
  properties["kind"] = text("The REST resource this object represents.");
  properties["metadata"] = {{"allOf", Json::array({reference(kObjectMeta)})},
                            {"description", "Standard object's metadata."}};
  schema["x-kubernetes-group-version-kind"] = Json::array({kind_of(resource, resource.kind)});
  return schema;
}

Json list_schema(const Resource& resource) {
  return {{"type", "object"},
          {"required", Json::array({"items"})},
          {"x-kubernetes-group-version-kind", Json::array({kind_of(resource, resource.list_kind)})},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", reference(kListMeta)},
            {"items", {{"type", "array"}, {"items", reference(schema_name(resource))}}}}}};
}

Json parameters(std::initializer_list<const char*> names) {
  Json list = Json::array();
  for (const char* name : names) {
    list.push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}});
  }
  return list;
}

Json operation(const Resource& resource, const char* action, Json params) {
  return {{"x-kubernetes-action", action},
          {"x-kubernetes-group-version-kind", kind_of(resource, resource.kind)},
          {"parameters", std::move(params)},
          {"responses",
           {{"200",
             {{"description", "OK"},
              {"content", {{"application/json", {{"schema", reference(schema_name(resource))}}}}}}}}}};
}

void add_paths(const Resource& resource, Json& paths) {
  const std::string root = resource.group.empty() ? "/api/" + resource.version
                                                  : fmt::format("/apis/{}/{}", resource.group, resource.version);
  const std::string space = resource.namespaced ? "/namespaces/{namespace}" : "";
  const std::string all = root + space + "/" + resource.plural;
  const std::string one = all + "/{name}";
  const auto write = [] { return parameters({"dryRun", "fieldManager", "fieldValidation"}); };
  paths[all]["post"] = operation(resource, "post", write());
  paths[all]["get"] = operation(resource, "list",
                                parameters({"labelSelector", "fieldSelector", "limit", "continue", "resourceVersion",
                                            "resourceVersionMatch", "watch"}));
  paths[one]["get"] = operation(resource, "get", Json::array());
  paths[one]["put"] = operation(resource, "put", write());
  Json patch = write();
  patch.push_back(parameters({"force"})[0]);
  paths[one]["patch"] = operation(resource, "patch", std::move(patch));
  paths[one]["delete"] =
      operation(resource, "delete", parameters({"dryRun", "gracePeriodSeconds", "propagationPolicy"}));
}

std::string root_of(const Resource& resource) {
  return resource.group.empty() ? "api/" + resource.version
                                : fmt::format("apis/{}/{}", resource.group, resource.version);
}

Json index_json(const Resources& resources) {
  Json paths = Json::object();
  for (const ResourcePtr& each : resources.list()) {
    const std::string root = root_of(*each);
    if (paths.contains(root)) continue;
    const std::string hash = sha256_hex(openapi_v3(resources, each->group, each->version).dump());
    paths[root] = {{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", root, hash)}};
  }
  return {{"paths", std::move(paths)}};
}

/// Version 2 for older clients: definitions without paths.
Json openapi_v2(const Resources& resources, const std::string& version) {
  Json definitions = Json::object();
  for (const ResourcePtr& each : resources.list()) {
    Json schema = {{"type", "object"}, {"x-kubernetes-group-version-kind", Json::array({kind_of(*each, each->kind)})}};
    definitions[schema_name(*each)] = std::move(schema);
  }
  return {{"swagger", "2.0"},
          {"info", {{"title", "Kubernetes"}, {"version", version}}},
          {"paths", Json::object()},
          {"definitions", std::move(definitions)}};
}

/// A field of a protobuf message with a string or another message, of less than 128 bytes.
std::string protobuf_field(int number, const std::string& value) {
  constexpr int kLengthDelimited = 2;
  std::string out;
  out += static_cast<char>((number << 3) | kLengthDelimited);
  out += static_cast<char>(value.size());
  return out + value;
}

/// Version 2 as an openapi.v2.Document of gnostic, without definitions.
///
/// kubectl reads it for a file with kind List, which has no path in version 3. It does not validate items of kinds that
/// have no definition here; the server does, when it gets them.
std::string openapi_v2_protobuf(const std::string& version) {
  const std::string info = protobuf_field(1, "Kubernetes") + protobuf_field(2, version);
  return protobuf_field(1, "2.0") + protobuf_field(2, info) + protobuf_field(8, "") + protobuf_field(9, "");
}

bool accepts(const http::Headers& headers, std::string_view type) {
  const std::string* accept = http::find_header(headers, "Accept");
  return accept != nullptr && accept->find(type) != std::string::npos;
}

bool accepts_json(const http::Headers& headers) {
  const std::string* accept = http::find_header(headers, "Accept");
  return accept == nullptr || accept->empty() || accepts(headers, "json") || accepts(headers, "*/*");
}

http::Reply protobuf_reply(std::string body) {
  http::Reply reply = json_reply(200, std::move(body));
  reply.response.headers.front().second = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  return reply;
}

}  // namespace

Json openapi_v3(const Resources& resources, const std::string& group, const std::string& version) {
  Json paths = Json::object();
  Json schemas = Json::object();
  for (const ResourcePtr& each : resources.list()) {
    if (each->group != group || each->version != version) continue;
    add_paths(*each, paths);
    schemas[schema_name(*each)] = schema_of(*each);
    schemas[schema_name(*each) + "List"] = list_schema(*each);
  }
  if (schemas.empty()) return nullptr;
  schemas[kObjectMeta] = object_meta();
  schemas[kListMeta] = list_meta();
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "unversioned"}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

Result<http::Reply> openapi_reply(const ApiCall& call) {
  const std::vector<std::string>& path = call.info.segments;
  const Resources& resources = call.registry.resources();
  const Error missing = Error::not_found("the server could not find the requested resource").with_reason("NotFound");
  if (path.size() < 2) return missing;
  const bool version_2 = path[1] == "v2" && path.size() == 2;
  if (version_2 && accepts(call.request.headers, "proto-openapi.spec.v2")) {
    return protobuf_reply(openapi_v2_protobuf(call.options.version));
  }
  if (!accepts_json(call.request.headers)) {
    return Error::unsupported("only the following media types are accepted: application/json")
        .with_reason("NotAcceptable");
  }
  if (version_2) return json_reply(200, openapi_v2(resources, call.options.version).dump());
  if (path[1] != "v3") return missing;
  if (path.size() == 2) return json_reply(200, index_json(resources).dump());
  const bool core = path.size() == 4 && path[2] == "api";
  const bool grouped = path.size() == 5 && path[2] == "apis";
  if (!core && !grouped) return missing;
  const Json document = core ? openapi_v3(resources, "", path[3]) : openapi_v3(resources, path[3], path[4]);
  if (document.is_null()) return missing;
  return json_reply(200, document.dump());
}

}  // namespace tpuslice::sim
