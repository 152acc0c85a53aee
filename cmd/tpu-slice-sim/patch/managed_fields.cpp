#include "cmd/tpu-slice-sim/patch/managed_fields.h"

#include <algorithm>
#include <tuple>

#include "cmd/tpu-slice-sim/patch/patch.h"

namespace tpuslice::sim {
namespace {

void write_entry(Json& list, const ManagedEntry& entry) {
  if (entry.fields.empty()) return;
  Json written = {{"manager", entry.manager},
                  {"operation", entry.operation},
                  {"apiVersion", entry.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", fields_to_json(entry.fields)}};
  if (!entry.time.empty()) written["time"] = entry.time;
  if (!entry.subresource.empty()) written["subresource"] = entry.subresource;
  list.push_back(std::move(written));
}

}  // namespace

std::vector<ManagedEntry> read_managed_fields(const Json& object) {
  std::vector<ManagedEntry> entries;
  const Json* list = find_path(object, {"metadata", "managedFields"});
  if (list == nullptr || !list->is_array()) return entries;
  for (const Json& each : *list) {
    const Json* fields = find_path(each, {"fieldsV1"});
    entries.push_back({string_at(each, {"manager"}), string_at(each, {"operation"}), string_at(each, {"apiVersion"}),
                       string_at(each, {"subresource"}), string_at(each, {"time"}),
                       fields == nullptr ? FieldSet() : fields_from_json(*fields)});
  }
  return entries;
}

void write_managed_fields(Json& object, std::vector<ManagedEntry> entries) {
  const auto key = [](const ManagedEntry& entry) {
    return std::tie(entry.operation, entry.time, entry.manager, entry.api_version, entry.subresource);
  };
  std::sort(entries.begin(), entries.end(),
            [&key](const ManagedEntry& a, const ManagedEntry& b) { return key(a) < key(b); });
  Json list = Json::array();
  for (const ManagedEntry& entry : entries) write_entry(list, entry);
  if (list.empty()) {
    if (object.contains("metadata") && object["metadata"].is_object()) object["metadata"].erase("managedFields");
  } else {
    object["metadata"]["managedFields"] = std::move(list);
  }
}

FieldSet owned_part(const Resource& resource, FieldSet fields, std::string_view subresource) {
  fields.member = false;
  fields.children.erase("f:apiVersion");
  fields.children.erase("f:kind");
  if (const auto meta = fields.children.find("f:metadata"); meta != fields.children.end()) {
    meta->second.member = false;
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields",
                             "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
      meta->second.children.erase(std::string("f:") + name);
    }
    if (meta->second.empty()) fields.children.erase(meta);
  }
  if (subresource == "status") {
    std::erase_if(fields.children, [](const auto& child) { return child.first != "f:status"; });
  } else if (resource.has_status) {
    fields.children.erase("f:status");
  }
  return fields;
}

Json update_managed_fields(const Resource& resource, const Json& before, Json after, std::string_view manager,
                           std::string_view operation, std::string_view subresource, Timestamp now) {
  // managedFields in a request are ignored; the stored ones count.
  std::vector<ManagedEntry> entries = read_managed_fields(before);
  const bool tracked = !entries.empty() || !before.is_object();
  if (!tracked) {
    write_managed_fields(after, {});
    return after;
  }
  Comparison difference = compare_fields(SchemaCursor::root(resource), before, after);
  const FieldSet changed = owned_part(resource, std::move(difference.changed), subresource);
  bool found = false;
  for (ManagedEntry& entry : entries) {
    entry.fields = set_difference(entry.fields, difference.removed);
    if (!manager.empty() && entry.is(manager, operation, subresource)) {
      found = true;
      if (changed.empty()) continue;
      entry.fields = set_union(entry.fields, changed);
      entry.time = format_rfc3339(now);
      entry.api_version = resource.api_version();
    } else {
      entry.fields = set_difference(entry.fields, changed);
    }
  }
  if (!found && !manager.empty() && !changed.empty()) {
    entries.push_back({std::string(manager), std::string(operation), resource.api_version(), std::string(subresource),
                       format_rfc3339(now), changed});
  }
  write_managed_fields(after, std::move(entries));
  return after;
}

}  // namespace tpuslice::sim
