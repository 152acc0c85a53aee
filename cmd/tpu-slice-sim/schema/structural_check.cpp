// The check of a CRD's schema.
#include <map>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/schema/cel.h"
#include "cmd/tpu-slice-sim/schema/formats.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

/// The type of a keyword's value.
enum class Shape : std::uint8_t {
  kAny,
  kText,
  kFlag,
  kNumber,
  kSize,
  kList,
  kNames,
  kPattern,
  kSchema,
  kSchemaOrFlag,
  kSchemaList,
  kSchemaMap,
  kRules
};

const std::map<std::string, Shape, std::less<>>& keywords() {
  static const std::map<std::string, Shape, std::less<>> kShapes = {
      {"additionalProperties", Shape::kSchemaOrFlag},
      {"allOf", Shape::kSchemaList},
      {"anyOf", Shape::kSchemaList},
      {"default", Shape::kAny},
      {"description", Shape::kText},
      {"enum", Shape::kList},
      {"example", Shape::kAny},
      {"exclusiveMaximum", Shape::kFlag},
      {"exclusiveMinimum", Shape::kFlag},
      {"externalDocs", Shape::kAny},
      {"format", Shape::kText},
      {"items", Shape::kSchema},
      {"maxItems", Shape::kSize},
      {"maxLength", Shape::kSize},
      {"maxProperties", Shape::kSize},
      {"maximum", Shape::kNumber},
      {"minItems", Shape::kSize},
      {"minLength", Shape::kSize},
      {"minProperties", Shape::kSize},
      {"minimum", Shape::kNumber},
      {"multipleOf", Shape::kNumber},
      {"not", Shape::kSchema},
      {"nullable", Shape::kFlag},
      {"oneOf", Shape::kSchemaList},
      {"pattern", Shape::kPattern},
      {"properties", Shape::kSchemaMap},
      {"required", Shape::kNames},
      {"title", Shape::kText},
      {"type", Shape::kText},
      {"x-kubernetes-embedded-resource", Shape::kFlag},
      {"x-kubernetes-int-or-string", Shape::kFlag},
      {"x-kubernetes-list-map-keys", Shape::kNames},
      {"x-kubernetes-list-type", Shape::kText},
      {"x-kubernetes-map-type", Shape::kText},
      {"x-kubernetes-preserve-unknown-fields", Shape::kFlag},
      {"x-kubernetes-validations", Shape::kRules},
  };
  return kShapes;
}

Status refused(const std::string& path, std::string_view why) {
  return Error::of(ErrorCode::kInvalid, "{}: {}", path, why).with_reason("Invalid");
}

bool all_text(const Json& list) {
  return list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& each) { return each.is_string(); });
}

bool has_shape(Shape shape, const Json& value) {
  switch (shape) {
    case Shape::kText:
    case Shape::kPattern:
      return value.is_string();
    case Shape::kFlag:
      return value.is_boolean();
    case Shape::kNumber:
      return value.is_number();
    case Shape::kSize:
      return value.is_number_integer() && value >= Json(0);
    case Shape::kNames:
      return all_text(value);
    case Shape::kList:
    case Shape::kSchemaList:
    case Shape::kRules:
      return value.is_array();
    case Shape::kSchema:
    case Shape::kSchemaMap:
      return value.is_object();
    case Shape::kSchemaOrFlag:
      return value.is_object() || value.is_boolean();
    case Shape::kAny:
      return true;
  }
  return false;
}

Status check_rule(const Json& rule, const std::string& path) {
  for (const auto& [name, value] : rule.items()) {
    const bool known = name == "rule" || name == "message" || name == "fieldPath";
    if (!known || !value.is_string())
      return refused(fmt::format("{}.{}", path, name), "Forbidden: unsupported keyword of a rule");
  }
  const std::string text = string_at(rule, {"rule"});
  const auto parsed = cel::Expression::parse(text, {"self", "oldSelf"});
  if (parsed) return {};
  return refused(path + ".rule",
                 fmt::format("Invalid value: {}: compilation failed: {}", Json(text).dump(), parsed.error().message()));
}

Status check_schema(const Json& schema, const std::string& path) {
  if (!schema.is_object()) return refused(path, fmt::format("Invalid value: {}: must be a schema", schema.dump()));
  for (const auto& [name, value] : schema.items()) {
    const std::string at = fmt::format("{}.{}", path, name);
    const auto found = keywords().find(name);
    if (found == keywords().end()) return refused(at, "Forbidden: unsupported keyword");
    const Shape shape = found->second;
    if (!has_shape(shape, value)) return refused(at, fmt::format("Invalid value: {}", value.dump()));
    if (shape == Shape::kPattern) {
      const std::string why = pattern_error(value.get<std::string>());
      if (!why.empty()) return refused(at, fmt::format("Invalid value: {}: {}", value.dump(), why));
    }
    if (shape == Shape::kSchema || (shape == Shape::kSchemaOrFlag && value.is_object())) {
      RETURN_IF_ERROR(check_schema(value, at));
    }
    if (shape == Shape::kSchemaMap) {
      for (const auto& [member, each] : value.items()) {
        RETURN_IF_ERROR(check_schema(each, fmt::format("{}[{}]", at, member)));
      }
    }
    for (std::size_t i = 0; shape == Shape::kSchemaList && i < value.size(); ++i) {
      RETURN_IF_ERROR(check_schema(value[i], fmt::format("{}[{}]", at, i)));
    }
    for (std::size_t i = 0; shape == Shape::kRules && i < value.size(); ++i) {
      RETURN_IF_ERROR(check_rule(value[i], fmt::format("{}[{}]", at, i)));
    }
  }
  return {};
}

}  // namespace

Status check_crd_schema(const Json& schema) { return check_schema(schema, "openAPIV3Schema"); }

}  // namespace tpuslice::sim
