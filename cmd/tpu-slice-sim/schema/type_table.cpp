#include "cmd/tpu-slice-sim/schema/type_table.h"

#include "api/base/check.h"

namespace tpuslice::sim {
namespace {

std::string_view take_word(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return word;
}

bool is_marker(std::string_view text) {
  return !text.empty() && std::string_view("@!~=").find(text.front()) != std::string_view::npos;
}

Json split_names(std::string_view text) {
  Json names = Json::array();
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    names.push_back(std::string(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

const std::map<std::string, Json, std::less<>>& scalar_schemas() {
  static const std::map<std::string, Json, std::less<>> kScalars = {
      {"string", {{"type", "string"}}},
      {"int", {{"type", "integer"}, {"format", "int32"}}},
      {"count", {{"type", "integer"}, {"format", "int32"}, {"minimum", 0}}},
      {"long", {{"type", "integer"}, {"format", "int64"}}},
      {"number", {{"type", "number"}}},
      {"bool", {{"type", "boolean"}}},
      {"time", {{"type", "string"}, {"format", "date-time"}, {"nullable", true}}},
      {"bytes", {{"type", "string"}, {"format", "byte"}}},
      {"any", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}},
      {"value", {{"x-kubernetes-preserve-unknown-fields", true}}},
      {"intstr", {{"x-kubernetes-int-or-string", true}}},
      {"quantity", {{"x-kubernetes-int-or-string", true}, {"format", "quantity"}}},
  };
  return kScalars;
}

}  // namespace

TypeTable::TypeTable(const std::vector<std::string_view>& tables) {
  for (const std::string_view table : tables) add(table);
}

void TypeTable::add(std::string_view table) {
  std::vector<Field>* fields = nullptr;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    const std::string_view line = table.substr(0, end);
    table.remove_prefix(std::min(end + 1, table.size()));
    if (line.empty()) continue;
    if (line.front() != ' ') {
      const auto [position, added] = types_.try_emplace(std::string(line));
      TPUSLICE_CHECK_MSG(added, line);
      fields = &position->second;
      continue;
    }
    TPUSLICE_CHECK_MSG(fields != nullptr, line);
    fields->push_back(parse_field(line));
  }
}

TypeTable::Field TypeTable::parse_field(std::string_view line) {
  Field field;
  std::string_view name = take_word(line);
  if (name.ends_with('*')) {
    field.required = true;
    name.remove_suffix(1);
  }
  field.name = name;
  field.type = take_word(line);
  while (is_marker(line)) field.markers.emplace_back(take_word(line));
  field.description = line;
  TPUSLICE_CHECK_MSG(!field.name.empty() && !field.type.empty(), field.name);
  return field;
}

Json TypeTable::schema(std::string_view type) const {
  if (type.starts_with("[]")) return {{"type", "array"}, {"items", schema(type.substr(2))}};
  if (type.starts_with('{')) {
    return {{"type", "object"}, {"additionalProperties", schema(type.substr(1, type.size() - 2))}};
  }
  if (const auto scalar = scalar_schemas().find(type); scalar != scalar_schemas().end()) return scalar->second;
  const auto found = types_.find(type);
  TPUSLICE_CHECK_MSG(found != types_.end(), type);
  Json object = {{"type", "object"}, {"properties", Json::object()}};
  for (const Field& field : found->second) {
    object["properties"][field.name] = field_schema(field);
    if (field.required) object["required"].push_back(field.name);
  }
  return object;
}

Json TypeTable::field_schema(const Field& field) const {
  Json out = schema(field.type);
  for (const std::string& marker : field.markers) mark(out, marker);
  if (out["type"] == "array" && !out.contains("x-kubernetes-list-type")) out["x-kubernetes-list-type"] = "atomic";
  if (out["type"].is_null()) out.erase("type");
  if (!field.description.empty()) out["description"] = field.description;
  return out;
}

void TypeTable::mark(Json& schema, const std::string& marker) {
  const std::string_view value = std::string_view(marker).substr(1);
  if (marker.front() == '=') {
    schema["default"] = std::string(value);
  } else if (marker.front() == '@') {
    const std::size_t slash = value.find('/');
    schema["x-kubernetes-patch-strategy"] = "merge";
    schema["x-kubernetes-patch-merge-key"] = std::string(value.substr(0, slash));
    schema["x-kubernetes-list-type"] = "map";
    schema["x-kubernetes-list-map-keys"] =
        split_names(slash == std::string_view::npos ? value : value.substr(slash + 1));
  } else if (marker == "!set") {
    schema["x-kubernetes-patch-strategy"] = "merge";
    schema["x-kubernetes-list-type"] = "set";
  } else if (marker == "~atomic") {
    schema[schema["type"] == "array" ? "x-kubernetes-list-type" : "x-kubernetes-map-type"] = "atomic";
  } else {
    TPUSLICE_CHECK_MSG(marker == "~retain", marker);
    const auto strategy = schema.find("x-kubernetes-patch-strategy");
    schema["x-kubernetes-patch-strategy"] = strategy == schema.end() ? "retainKeys" : "merge,retainKeys";
  }
}

}  // namespace tpuslice::sim
