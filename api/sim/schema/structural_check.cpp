// Which schemas a CRD may have.
#include <algorithm>
#include <array>
#include <set>

#include "api/sim/schema/field_path.h"
#include "api/sim/schema/formats.h"
#include "api/sim/schema/rules.h"
#include "api/sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

using Names = std::set<std::string, std::less<>>;

/// Value checks: also legal inside of allOf, anyOf, oneOf and not.
const Names& value_keywords() {
  static const Names kNames = {
      "properties", "items",    "required", "enum",   "minimum",       "maximum",       "exclusiveMinimum",
      "allOf",      "anyOf",    "oneOf",    "not",    "minLength",     "maxLength",     "exclusiveMaximum",
      "pattern",    "minItems", "maxItems", "format", "minProperties", "maxProperties", "multipleOf",
      "uniqueItems"};
  return kNames;
}

const Names& structural_keywords() {
  static const Names kNames = {"type",
                               "additionalProperties",
                               "default",
                               "description",
                               "title",
                               "example",
                               "externalDocs",
                               "nullable",
                               "x-kubernetes-preserve-unknown-fields",
                               "x-kubernetes-embedded-resource",
                               "x-kubernetes-int-or-string",
                               "x-kubernetes-list-type",
                               "x-kubernetes-list-map-keys",
                               "x-kubernetes-map-type",
                               "x-kubernetes-validations"};
  return kNames;
}

struct Context {
  std::string where;         ///< "object fields", "array items", "object values"; empty at the root.
  bool resource = false;     ///< A whole object: the root, or an embedded resource.
  bool correlatable = true;  ///< Outside of lists without keys.
};

class SchemaChecker {
 public:
  void run(const Json& schema, const std::string& path, const Context& context) {
    if (!schema.is_object()) return fail(path, "Invalid value: " + schema.dump() + ": must be a schema");
    for (const auto& [name, value] : schema.items()) {
      if (!structural_keywords().contains(name) && !value_keywords().contains(name)) {
        return fail(path + "." + name, "Forbidden: unsupported keyword");
      }
    }
    check_type(schema, path, context);
    check_values(schema, path);
    check_object(schema, path);
    check_list(schema, path);
    check_combinations(schema, path);
    check_default(schema, path);
    check_rules(schema, path, context);
    descend(schema, path, context);
  }

  [[nodiscard]] Status result() const {
    if (problem_.empty()) return {};
    return Error::of(ErrorCode::kInvalid, "{}", problem_).with_reason("Invalid");
  }

 private:
  /// The first problem is the one that is told.
  void fail(const std::string& path, const std::string& message) {
    if (problem_.empty()) problem_ = path + ": " + message;
  }

  [[nodiscard]] static bool is_true(const Json& schema, const char* name) { return bool_at(schema, {name}); }

  void check_type(const Json& schema, const std::string& path, const Context& context) {
    const std::string type = string_at(schema, {"type"});
    if (context.where.empty() && type != "object") {
      if (type.empty()) return fail(path + ".type", "Required value: must not be empty at the root");
      return fail(path + ".type", "Invalid value: \"" + type + "\": must be object at the root");
    }
    if (is_true(schema, "x-kubernetes-int-or-string")) {
      if (!type.empty()) fail(path + ".type", "Forbidden: must be empty if x-kubernetes-int-or-string is true");
      return;
    }
    if (type.empty()) {
      if (is_true(schema, "x-kubernetes-preserve-unknown-fields")) return;
      return fail(path + ".type", "Required value: must not be empty for specified " + context.where);
    }
    static const Names kTypes = {"array", "boolean", "integer", "number", "object", "string"};
    if (!kTypes.contains(type)) {
      fail(path + ".type", "Unsupported value: \"" + type +
                               "\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", "
                               "\"string\"");
    }
    if (is_true(schema, "x-kubernetes-embedded-resource")) {
      if (type != "object")
        fail(path + ".type",
             "Invalid value: \"" + type + "\": must be object if x-kubernetes-embedded-resource is true");
      if (!schema.contains("properties") && !is_true(schema, "x-kubernetes-preserve-unknown-fields")) {
        fail(path + ".properties",
             "Required value: must not be empty if x-kubernetes-embedded-resource is true without "
             "x-kubernetes-preserve-unknown-fields");
      }
    }
    const Json* keep = find_path(schema, {"x-kubernetes-preserve-unknown-fields"});
    if (keep != nullptr && *keep != Json(true)) {
      fail(path + ".x-kubernetes-preserve-unknown-fields",
           "Invalid value: " + keep->dump() + ": must be true or undefined");
    }
  }

  void check_values(const Json& schema, const std::string& path) {
    for (const char* name : {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}) {
      const Json* value = find_path(schema, {name});
      if (value != nullptr && (!value->is_number_integer() || *value < Json(0))) {
        fail(path + "." + name, "Invalid value: " + value->dump() + ": must be a whole number that is not negative");
      }
    }
    for (const char* name : {"minimum", "maximum", "multipleOf"}) {
      const Json* value = find_path(schema, {name});
      if (value != nullptr && !value->is_number()) {
        fail(path + "." + name, "Invalid value: " + value->dump() + ": must be a number");
      }
    }
    if (is_true(schema, "uniqueItems")) {
      fail(path + ".uniqueItems",
           "Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    if (const Json* pattern = find_path(schema, {"pattern"}); pattern != nullptr) {
      const std::string why = pattern->is_string() ? pattern_error(pattern->get<std::string>()) : "it is no string";
      if (!why.empty()) {
        fail(path + ".pattern",
             "Invalid value: " + pattern->dump() + ": must be a valid regular expression, but isn't: " + why);
      }
    }
    if (const std::string format = string_at(schema, {"format"}); !usable_format(format)) {
      fail(path + ".format", "Forbidden: format \"" + format + "\" is not supported");
    }
    if (const Json* values = find_path(schema, {"enum"}); values != nullptr && !values->is_array()) {
      fail(path + ".enum", "Invalid value: " + values->dump() + ": must be a list");
    }
  }

  void check_object(const Json& schema, const std::string& path) {
    const Json* others = find_path(schema, {"additionalProperties"});
    if (others != nullptr && schema.contains("properties")) {
      fail(path + ".additionalProperties", "Forbidden: additionalProperties and properties are mutual exclusive");
    }
    if (others != nullptr && *others == Json(false)) {
      fail(path + ".additionalProperties", "Forbidden: additionalProperties cannot be set to false");
    }
    const Json* required = find_path(schema, {"required"});
    if (required != nullptr &&
        !(required->is_array() &&
          std::all_of(required->begin(), required->end(), [](const Json& each) { return each.is_string(); }))) {
      fail(path + ".required", "Invalid value: " + required->dump() + ": must be a list of names");
    }
  }

  void check_list(const Json& schema, const std::string& path) {
    if (string_at(schema, {"type"}) == "array" && !schema.contains("items")) {
      fail(path + ".items", "Required value: must be specified");
    }
    const std::string type = string_at(schema, {"x-kubernetes-list-type"}, "atomic");
    if (type != "atomic" && type != "set" && type != "map") {
      fail(path + ".x-kubernetes-list-type",
           "Unsupported value: \"" + type + "\": supported values: \"atomic\", \"map\", \"set\"");
    }
    const Json* keys = find_path(schema, {"x-kubernetes-list-map-keys"});
    if ((type == "map") != (keys != nullptr && keys->is_array() && !keys->empty())) {
      return fail(path + ".x-kubernetes-list-map-keys",
                  type == "map" ? "Required value: must not be empty if x-kubernetes-list-type is map"
                                : "Forbidden: must be empty if x-kubernetes-list-type is not map");
    }
    if (type != "map") return;
    for (const Json& key : *keys) {
      if (!key.is_string())
        return fail(path + ".x-kubernetes-list-map-keys", "Invalid value: " + key.dump() + ": must be a string");
      check_list_key(schema, path, key.get<std::string>());
    }
  }

  void check_list_key(const Json& schema, const std::string& path, const std::string& key) {
    const Json* property = find_path(schema, {"items", "properties", key});
    if (property == nullptr) {
      return fail(path + ".x-kubernetes-list-map-keys",
                  "Invalid value: \"" + key + "\": entries must all be names of item properties");
    }
    const Json* required = find_path(schema, {"items", "required"});
    const bool needed =
        required != nullptr && std::find(required->begin(), required->end(), Json(key)) != required->end();
    if (!needed && !property->contains("default")) {
      fail(path + ".items.properties[" + key + "].default",
           "Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required "
           "property");
    }
  }

  void check_combinations(const Json& schema, const std::string& path) {
    const bool types = is_true(schema, "x-kubernetes-int-or-string");
    for (const char* name : {"allOf", "anyOf", "oneOf"}) {
      const Json* list = find_path(schema, {name});
      if (list == nullptr) continue;
      if (!list->is_array()) return fail(path + "." + name, "Invalid value: " + list->dump() + ": must be a list");
      for (std::size_t i = 0; i < list->size(); ++i) {
        check_value_schema((*list)[i], fmt::format("{}.{}[{}]", path, name, i), types);
      }
    }
    if (const Json* negated = find_path(schema, {"not"}); negated != nullptr) {
      check_value_schema(*negated, path + ".not", false);
    }
  }

  /// Of a branch: it may check values, not add structure.
  void check_value_schema(const Json& schema, const std::string& path, bool types_allowed) {
    if (!schema.is_object()) return fail(path, "Invalid value: " + schema.dump() + ": must be a schema");
    for (const auto& [name, value] : schema.items()) {
      if (value_keywords().contains(name) || (types_allowed && name == "type")) continue;
      const bool known = structural_keywords().contains(name);
      return fail(path + "." + name,
                  known ? "Forbidden: must be empty to be structural" : "Forbidden: unsupported keyword");
    }
    check_values(schema, path);
    check_object(schema, path);
    for (const char* name : {"allOf", "anyOf", "oneOf"}) {
      const Json* list = find_path(schema, {name});
      if (list == nullptr) continue;
      if (!list->is_array()) return fail(path + "." + name, "Invalid value: " + list->dump() + ": must be a list");
      for (std::size_t i = 0; i < list->size(); ++i) {
        check_value_schema((*list)[i], fmt::format("{}.{}[{}]", path, name, i), types_allowed);
      }
    }
    if (const Json* negated = find_path(schema, {"not"}); negated != nullptr)
      check_value_schema(*negated, path + ".not", false);
    if (const Json* items = find_path(schema, {"items"}); items != nullptr)
      check_value_schema(*items, path + ".items", false);
    if (const Json* properties = find_path(schema, {"properties"}); properties != nullptr && properties->is_object()) {
      for (const auto& [name, property] : properties->items()) {
        check_value_schema(property, path + ".properties[" + name + "]", false);
      }
    }
  }

  void check_default(const Json& schema, const std::string& path) {
    const Json* value = find_path(schema, {"default"});
    if (value == nullptr || !problem_.empty()) return;
    for (const FieldProblem& problem : validate(schema, *value)) {
      const std::string at = problem.path == "<nil>" ? std::string() : "." + problem.path;
      return fail(path + ".default" + at, problem.message);
    }
  }

  void check_rules(const Json& schema, const std::string& path, const Context& context) {
    const Json* rules = find_path(schema, {"x-kubernetes-validations"});
    if (rules == nullptr) return;
    if (!rules->is_array())
      return fail(path + ".x-kubernetes-validations", "Invalid value: " + rules->dump() + ": must be a list");
    for (std::size_t i = 0; i < rules->size(); ++i) {
      const std::string why = rule_problem(schema, (*rules)[i], context.resource, context.correlatable);
      if (why.empty()) continue;
      const std::size_t colon = why.find(": ");  // "rule: Invalid value: ..."
      return fail(fmt::format("{}.x-kubernetes-validations[{}].{}", path, i, why.substr(0, colon)),
                  why.substr(colon + 2));
    }
  }

  void descend(const Json& schema, const std::string& path, const Context& context) {
    if (!problem_.empty()) return;
    if (const Json* properties = find_path(schema, {"properties"}); properties != nullptr) {
      if (!properties->is_object()) return fail(path + ".properties", "Invalid value: must be an object");
      for (const auto& [name, property] : properties->items()) {
        if (context.resource && name == "metadata") continue;
        run(property, path + ".properties[" + name + "]",
            {"object fields", is_true(property, "x-kubernetes-embedded-resource"), context.correlatable});
      }
    }
    if (const Json* others = find_path(schema, {"additionalProperties"}); others != nullptr && !others->is_boolean()) {
      run(*others, path + ".additionalProperties",
          {"object values", is_true(*others, "x-kubernetes-embedded-resource"), context.correlatable});
    }
    if (const Json* items = find_path(schema, {"items"}); items != nullptr) {
      const bool keyed = string_at(schema, {"x-kubernetes-list-type"}) == "map";
      run(*items, path + ".items",
          {"array items", is_true(*items, "x-kubernetes-embedded-resource"), context.correlatable && keyed});
    }
  }

  std::string problem_;
};

}  // namespace

Status check_crd_schema(const Json& schema) {
  SchemaChecker checker;
  checker.run(schema, "openAPIV3Schema", {"", true, true});
  return checker.result();
}

}  // namespace tpuslice::sim
