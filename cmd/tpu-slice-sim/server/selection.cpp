#include "cmd/tpu-slice-sim/server/selection.h"

#include <array>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/resources/api_errors.h"

namespace tpuslice::sim {
namespace {

struct Fields {
  std::string_view id;     ///< Name of the resource.
  std::string_view names;  ///< Space-separated.
};

/// Field selectors besides metadata.name and metadata.namespace.
constexpr std::array kFields = {
    Fields{"pods",
           "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork status.phase "
           "status.podIP status.nominatedNodeName"},
    Fields{"nodes", "spec.unschedulable"},
    Fields{"namespaces", "status.phase"},
    Fields{"secrets", "type"},
    Fields{"services", "spec.clusterIP spec.type"},
    Fields{"events",
           "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
           "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason "
           "reportingComponent source type"},
    Fields{"events.events.k8s.io",
           "regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion "
           "regarding.resourceVersion regarding.fieldPath reason reportingController type"},
    Fields{"jobs.batch", "status.successful"},
};

bool selectable(const Resource& resource, std::string_view field) {
  if (field == "metadata.name" || (field == "metadata.namespace" && resource.namespaced)) return true;
  const std::string id = resource.id();
  for (const Fields& row : kFields) {
    if (row.id != id) continue;
    std::string_view names = row.names;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(' '), names.size());
      if (names.substr(0, end) == field) return true;
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return false;
}

/// Kinds without other field selectors have a different message.
std::string not_selectable(const Resource& resource, std::string_view field) {
  const std::string id = resource.id();
  const bool taught = resource.custom || id == "nodes" ||
                      std::any_of(kFields.begin(), kFields.end(), [&id](const Fields& row) { return row.id == id; });
  if (taught) return fmt::format("field label not supported: {}", field);
  return fmt::format("\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", field);
}

/// Two selectors are not the path of a string: `source` of an Event is an object, a Job has `succeeded`.
std::string value_of(const Json& object, std::string_view field) {
  if (field == "source") return string_at(object, {"source", "component"}, string_at(object, {"reportingComponent"}));
  if (field == "status.successful") return std::to_string(int_at(object, {"status", "succeeded"}));
  std::string value = field_value(object, field);
  if (value.empty() && (field == "spec.unschedulable" || field == "spec.hostNetwork")) return "false";
  return value;
}

}  // namespace

std::string field_value(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at = find_path(*at, {path.substr(0, dot)});
    if (at == nullptr) return {};
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (at->is_string()) return at->get<std::string>();
  return at->is_null() || at->is_structured() ? std::string() : at->dump();
}

Result<Selection> Selection::of(const Resource& resource, const ListOptions& options, std::string namespace_name) {
  for (const FieldRequirement& each : options.fields.requirements()) {
    if (!selectable(resource, each.field)) {
      return bad_request(not_selectable(resource, each.field));
    }
  }
  Selection selection;
  selection.namespace_ = std::move(namespace_name);
  selection.labels_ = options.labels;
  selection.fields_ = options.fields;
  return selection;
}

bool Selection::matches(const ObjectKey& key, const Json& object) const {
  if (!namespace_.empty() && key.namespace_name != namespace_) return false;
  if (!fields_.requirements().empty() &&
      !fields_.matches([&object](std::string_view field) { return value_of(object, field); })) {
    return false;
  }
  return labels_.matches_everything() || labels_.matches(string_map_at(object, {"metadata", "labels"}));
}

bool Selection::everything() const { return labels_.matches_everything() && fields_.requirements().empty(); }

}  // namespace tpuslice::sim
