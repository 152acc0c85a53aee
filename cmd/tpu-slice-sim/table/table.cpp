#include "cmd/tpu-slice-sim/table/table.h"

#include "cmd/tpu-slice-sim/table/age.h"
#include "cmd/tpu-slice-sim/table/builtin_columns.h"
#include "cmd/tpu-slice-sim/table/json_path.h"

namespace tpuslice::sim {
namespace {

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// A value of the type that its column declares; null (which kubectl prints as <none>) for another type.
Json cell_of(const std::vector<const Json*>& found, const std::string& type, Timestamp now) {
  if (found.empty() || found.front()->is_null()) return nullptr;
  const Json& first = *found.front();
  if (type == "integer") return first.is_number() ? Json(first.get<std::int64_t>()) : Json();
  if (type == "number") return first.is_number() ? Json(first.get<double>()) : Json();
  if (type == "boolean") return first.is_boolean() ? first : Json();
  if (type == "date") {
    const auto time = parse_rfc3339(text_of(first));
    return time ? human_duration(now - *time) : std::string("<invalid>");
  }
  std::string text;
  for (const Json* each : found) text += (text.empty() ? "" : " ") + text_of(*each);
  return text;
}

Column custom_column(const PrinterColumn& printer) {
  Column column;
  column.name = printer.name;
  column.type = printer.type;
  column.description = printer.description.empty()
                           ? "Custom resource definition column (in JSONPath format): " + printer.json_path
                           : printer.description;
  column.priority = printer.priority;
  const Result<JsonPath> path = JsonPath::parse(printer.json_path);
  if (!path) {
    column.cell = [](const Json&, Timestamp) { return Json(); };
    return column;
  }
  column.cell = [path = *path, type = printer.type](const Json& object, Timestamp now) {
    return cell_of(path.find(object), type, now);
  };
  return column;
}

}  // namespace

TableColumns::TableColumns(const Resource& resource) {
  if (!resource.custom) columns_ = builtin_columns(resource);
  if (!columns_.empty()) return;
  columns_.push_back(name_column());
  for (const PrinterColumn& each : resource.columns) columns_.push_back(custom_column(each));
  if (!resource.columns.empty()) return;
  columns_.push_back(age_column());
  if (resource.custom) columns_.back().type = "date";
}

Json TableColumns::definitions() const {
  Json definitions = Json::array();
  for (const Column& column : columns_) {
    definitions.push_back({{"name", column.name},
                           {"type", column.type},
                           {"format", column.format},
                           {"description", column.description},
                           {"priority", column.priority}});
  }
  return definitions;
}

Json TableColumns::cells(const Json& object, Timestamp now) const {
  Json cells = Json::array();
  for (const Column& column : columns_) cells.push_back(column.cell(object, now));
  return cells;
}

}  // namespace tpuslice::sim
