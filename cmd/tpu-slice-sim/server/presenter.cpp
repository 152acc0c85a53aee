#include "cmd/tpu-slice-sim/server/presenter.h"

#include "cmd/tpu-slice-sim/table/table.h"

namespace tpuslice::sim {
namespace {

Json partial(const Json& object) {
  Json metadata = Json::object();
  if (const Json* found = find_path(object, {"metadata"}); found != nullptr) metadata = *found;
  return {{"apiVersion", "meta.k8s.io/v1"}, {"kind", "PartialObjectMetadata"}, {"metadata", std::move(metadata)}};
}

/// Items of built-in lists have no apiVersion and kind; those of custom resources do.
void append_item(std::string& out, const Json& object, bool typed) {
  if (typed || !object.is_object()) {
    out += object.dump();
    return;
  }
  char separator = '{';
  for (const auto& [key, value] : object.items()) {
    if (key == "apiVersion" || key == "kind") continue;
    out += separator;
    out += Json(key).dump();
    out += ':';
    out += value.dump();
    separator = ',';
  }
  out += separator == '{' ? "{}" : "}";
}

Json row_of(const TableColumns& columns, const Json& object, RowObject with, Timestamp now) {
  Json row = {{"cells", columns.cells(object, now)}};
  if (with == RowObject::kNone) row["object"] = nullptr;
  if (with == RowObject::kMetadata) row["object"] = partial(object);
  if (with == RowObject::kObject) row["object"] = object;
  return row;
}

Json table(const Json& metadata) {
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", metadata},
          {"columnDefinitions", Json::array()},
          {"rows", Json::array()}};
}

}  // namespace

Json Presenter::one(const Json& object, bool headers) const {
  if (form == Form::kMetadata || form == Form::kMetadataList) return partial(object);
  if (form == Form::kObject) return object;
  const TableColumns columns(resource);
  Json answer = table({{"resourceVersion", string_at(object, {"metadata", "resourceVersion"})}});
  if (headers) answer["columnDefinitions"] = columns.definitions();
  answer["rows"].push_back(row_of(columns, object, row_object, now));
  return answer;
}

std::string Presenter::list(const std::vector<JsonPtr>& objects, const Json& metadata) const {
  if (form == Form::kTable) {
    const TableColumns columns(resource);
    Json answer = table(metadata);
    answer["columnDefinitions"] = columns.definitions();
    for (const JsonPtr& each : objects) answer["rows"].push_back(row_of(columns, *each, row_object, now));
    return answer.dump();
  }
  const bool whole = form == Form::kObject;
  std::string out = "{\"kind\":" + Json(whole ? resource.list_kind : "PartialObjectMetadataList").dump();
  out += ",\"apiVersion\":" + Json(whole ? resource.api_version() : "meta.k8s.io/v1").dump();
  out += ",\"metadata\":" + metadata.dump() + ",\"items\":[";
  bool first = true;
  for (const JsonPtr& each : objects) {
    if (!first) out += ',';
    first = false;
    append_item(out, whole ? *each : partial(*each), resource.custom || !whole);
  }
  return out + "]}";
}

Json Presenter::bookmark(Revision revision, bool initial_events_end) const {
  Json metadata = {{"resourceVersion", std::to_string(revision)}};
  if (initial_events_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  if (form == Form::kTable) return table(metadata);
  if (form == Form::kMetadata || form == Form::kMetadataList) {
    return {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", metadata}};
  }
  return {{"kind", resource.kind}, {"apiVersion", resource.api_version()}, {"metadata", metadata}};
}

}  // namespace tpuslice::sim
