#include "cmd/tpu-slice-sim/server/discovery.h"

#include <cstdio>
#include <map>
#include <tuple>

#include "cmd/tpu-slice-sim/resources/builtin_resources.h"

namespace tpuslice::sim {
namespace {

constexpr const char* kAggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

struct VersionOrder {
  bool operator()(const std::string& a, const std::string& b) const { return version_before(a, b); }
};
using Versions = std::map<std::string, std::vector<ResourcePtr>, VersionOrder>;
using Groups = std::map<std::string, Versions>;

Groups groups_of(const Resources& resources) {
  Groups groups;
  for (const ResourcePtr& each : resources.list()) groups[each->group][each->version].push_back(each);
  return groups;
}

struct Part {
  const char* name;
  const char* group;
  const char* version;
  const char* kind;
  std::vector<std::string> verbs;
};

std::vector<Part> parts_of(const Resource& resource) {
  const std::vector<std::string> edit = {"get", "patch", "update"};
  std::vector<Part> parts;
  // Subresources of built-in kinds are sorted by name.
  if (resource.has_status && resource.custom) parts.push_back({"status", "", "", nullptr, edit});
  if (resource.scale) parts.push_back({"scale", "autoscaling", "v1", "Scale", edit});
  if (resource.has_status && !resource.custom) parts.push_back({"status", "", "", nullptr, edit});
  if (resource.id() == "pods") {
    parts.push_back({"binding", "", "v1", "Binding", {"create"}});
    parts.push_back({"eviction", "policy", "v1", "Eviction", {"create"}});
    parts.push_back({"log", "", "v1", "Pod", {"get"}});
  }
  if (resource.id() == "namespaces") parts.push_back({"finalize", "", "", nullptr, {"update"}});
  return parts;
}

Json resource_json(const Resource& resource) {
  Json json = {{"name", resource.plural},
               {"singularName", resource.singular},
               {"namespaced", resource.namespaced},
               {"kind", resource.kind},
               {"verbs", verbs_of(resource)}};
  if (!resource.short_names.empty()) json["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) json["categories"] = resource.categories;
  return json;
}

Json resource_list(const std::string& group_version, const std::vector<ResourcePtr>& resources) {
  Json list = {
      {"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", group_version}, {"resources", Json::array()}};
  for (const ResourcePtr& resource : resources) {
    list["resources"].push_back(resource_json(*resource));
    for (const Part& part : parts_of(*resource)) {
      Json json = {{"name", resource->plural + "/" + part.name},
                   {"singularName", ""},
                   {"namespaced", resource->namespaced},
                   {"kind", part.kind == nullptr ? resource->kind : part.kind},
                   {"verbs", part.verbs}};
      if (part.kind != nullptr && *part.group != '\0') {
        json["group"] = part.group;
        json["version"] = part.version;
      }
      list["resources"].push_back(std::move(json));
    }
  }
  return list;
}

std::string group_version(const std::string& group, const std::string& version) {
  return group.empty() ? version : group + "/" + version;
}

Json group_json(const std::string& group, const Versions& versions) {
  Json json = {{"name", group}, {"versions", Json::array()}};
  for (const auto& [version, resources] : versions) {
    json["versions"].push_back({{"groupVersion", group_version(group, version)}, {"version", version}});
  }
  json["preferredVersion"] = json["versions"][0];
  return json;
}

Json kind_json(const std::string& group, const std::string& version, const std::string& kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

Json aggregated_resource(const Resource& resource) {
  Json json = {{"resource", resource.plural},
               {"responseKind", kind_json(resource.group, resource.version, resource.kind)},
               {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
               {"singularResource", resource.singular},
               {"verbs", verbs_of(resource)}};
  if (!resource.short_names.empty()) json["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) json["categories"] = resource.categories;
  for (const Part& part : parts_of(resource)) {
    const bool own = part.kind == nullptr;
    json["subresources"].push_back({{"subresource", part.name},
                                    {"responseKind", own ? kind_json(resource.group, resource.version, resource.kind)
                                                         : kind_json(part.group, part.version, part.kind)},
                                    {"verbs", part.verbs}});
  }
  return json;
}

Json aggregated(const Groups& groups, bool core) {
  Json list = {{"kind", "APIGroupDiscoveryList"},
               {"apiVersion", "apidiscovery.k8s.io/v2"},
               {"metadata", Json::object()},
               {"items", Json::array()}};
  for (const auto& [group, versions] : groups) {
    if (group.empty() != core) continue;
    Json item = {{"metadata", core ? Json::object() : Json{{"name", group}}}, {"versions", Json::array()}};
    for (const auto& [version, resources] : versions) {
      Json entry = {{"version", version}, {"freshness", "Current"}, {"resources", Json::array()}};
      for (const ResourcePtr& each : resources) entry["resources"].push_back(aggregated_resource(*each));
      item["versions"].push_back(std::move(entry));
    }
    list["items"].push_back(std::move(item));
  }
  return list;
}

std::optional<DiscoveryDocument> core_document(const Groups& groups, const std::vector<std::string>& path) {
  if (path.size() == 1) {
    return DiscoveryDocument{
        {{"kind", "APIVersions"}, {"versions", Json::array({"v1"})}, {"serverAddressByClientCIDRs", Json::array()}}};
  }
  if (path.size() != 2 || path[1] != "v1") return std::nullopt;
  return DiscoveryDocument{resource_list("v1", groups.at("").at("v1"))};
}

std::optional<DiscoveryDocument> group_document(const Groups& groups, const std::vector<std::string>& path) {
  if (path.size() == 1) {
    Json list = {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array()}};
    for (const auto& [group, versions] : groups) {
      if (!group.empty()) list["groups"].push_back(group_json(group, versions));
    }
    return DiscoveryDocument{std::move(list)};
  }
  const auto group = groups.find(path[1]);
  if (path[1].empty() || group == groups.end()) return std::nullopt;
  if (path.size() == 2) {
    Json json = group_json(group->first, group->second);
    json["kind"] = "APIGroup";
    json["apiVersion"] = "v1";
    return DiscoveryDocument{std::move(json)};
  }
  const auto version = group->second.find(path[2]);
  if (path.size() != 3 || version == group->second.end()) return std::nullopt;
  return DiscoveryDocument{resource_list(path[1] + "/" + path[2], version->second)};
}

/// "v1beta2" as (stability, major, minor); higher is preferred.
std::tuple<int, int, int> rank(const std::string& version) {
  int major = 0;
  int minor = 0;
  char rest = 0;
  if (std::sscanf(version.c_str(), "v%9d%c", &major, &rest) == 1) return {3, major, 0};
  if (std::sscanf(version.c_str(), "v%9dbeta%9d%c", &major, &minor, &rest) == 2) return {2, major, minor};
  if (std::sscanf(version.c_str(), "v%9dalpha%9d%c", &major, &minor, &rest) == 2) return {1, major, minor};
  return {0, 0, 0};
}

}  // namespace

bool version_before(const std::string& a, const std::string& b) {
  const auto left = rank(a);
  const auto right = rank(b);
  return left != right ? left > right : a < b;
}

std::vector<std::string> verbs_of(const Resource& resource) {
  if (resource.custom) return {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  if (resource.id() == "namespaces") return {"create", "delete", "get", "list", "patch", "update", "watch"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::optional<DiscoveryDocument> discovery_json(const Resources& resources, const std::vector<std::string>& path,
                                                bool aggregate) {
  const bool core = !path.empty() && path[0] == "api";
  if (path.empty()) {
    return DiscoveryDocument{{{"paths", Json::array({"/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v2",
                                                     "/openapi/v3", "/readyz", "/version"})}}};
  }
  if (!core && path[0] != "apis") return std::nullopt;
  const Groups groups = groups_of(resources);
  if (aggregate && path.size() == 1) return DiscoveryDocument{aggregated(groups, core), kAggregatedType};
  return core ? core_document(groups, path) : group_document(groups, path);
}

Json version_json(const std::string& git_version) {
  int major = 0;
  int minor = 0;
  std::sscanf(git_version.c_str(), "v%9d.%9d", &major, &minor);
  return {{"major", std::to_string(major)},
          {"minor", std::to_string(minor)},
          {"gitVersion", git_version},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "2025-04-23T13:07:12Z"},
          {"goVersion", "none"},
          {"compiler", "gcc"},
          {"platform", "linux/amd64"}};
}

}  // namespace tpuslice::sim
