#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "api/types/utf8.h"
#include "cmd/tpu-slice-sim/schema/field_path.h"
#include "cmd/tpu-slice-sim/schema/formats.h"
#include "cmd/tpu-slice-sim/schema/keywords.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

constexpr std::array kCombinations = {"allOf", "anyOf", "oneOf", "not"};

std::optional<std::size_t> limit(const Json& schema, const char* name) {
  const Json* value = keyword(schema, name);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::size_t>();
}

bool is_integer(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::floor(value.get<double>()) == value.get<double>();
}

/// The keys of a list-map item; missing keys get their defaults.
Json key_of(const Json& item, const Json& keys, const Json* items) {
  Json key = Json::object();
  for (const Json& name : keys) {
    const auto& text = name.get_ref<const std::string&>();
    if (item.contains(text)) {
      key[text] = item.at(text);
    } else if (const Json* fallback = items == nullptr ? nullptr : find_path(*items, {"properties", text, "default"});
               fallback != nullptr) {
      key[text] = *fallback;
    }
  }
  return key;
}

class Validator {
 public:
  explicit Validator(bool unique_keys) : unique_keys_(unique_keys) {}

  void run(const Json& schema, const Json& value, const FieldPath& path) {
    if (!schema.is_object()) return;
    if (value.is_null() && flag(schema, "nullable")) return;
    if (!check_type(schema, value, path)) return;
    check_enum(schema, value, path);
    if (value.is_number()) check_number(schema, value, path);
    if (value.is_string()) check_string(schema, value.get_ref<const std::string&>(), path);
    if (value.is_array()) check_list(schema, value, path);
    if (value.is_object()) check_object(schema, value, path);
    check_combinations(schema, value, path);
  }

  Problems problems;

 private:
  void body(const FieldPath& path, const Json& value, std::string_view what) {
    problems.invalid(path, value, fmt::format("{} in body {}", path.to_string(), what));
  }

  bool type_problem(const FieldPath& path, std::string_view wanted, std::string_view found) {
    problems.add(path, "FieldValueTypeInvalid", fmt::format("Invalid value: \"{}\"", found),
                 fmt::format("{} in body must be of type {}: \"{}\"", path.to_string(), wanted, found));
    return false;
  }

  bool check_type(const Json& schema, const Json& value, const FieldPath& path) {
    const std::string_view found = json_type(value);
    if (flag(schema, "x-kubernetes-int-or-string")) {
      return is_integer(value) || value.is_string() || type_problem(path, "integer,string", found);
    }
    const Json* type = keyword(schema, "type");
    if (type == nullptr || !type->is_string()) return true;
    const auto& wanted = type->get_ref<const std::string&>();
    if (wanted == "number" ? !value.is_number() : wanted == "integer" ? !is_integer(value) : wanted != found) {
      return type_problem(path, wanted, found);
    }
    if (wanted == "integer" && string_at(schema, {"format"}) == "int32") {
      const double number = value.get<double>();
      if (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max()) {
        return type_problem(path, "int32", "int64");
      }
    }
    return true;
  }

  void check_enum(const Json& schema, const Json& value, const FieldPath& path) {
    const Json* allowed = keyword(schema, "enum");
    if (allowed == nullptr || !allowed->is_array()) return;
    std::vector<std::string> names;
    for (const Json& each : *allowed) {
      if (each == value) return;
      names.push_back(each.is_string() ? each.get<std::string>() : each.dump());
    }
    problems.unsupported(path, value, names);
  }

  void check_number(const Json& schema, const Json& value, const FieldPath& path) {
    if (const Json* least = keyword(schema, "minimum"); least != nullptr && least->is_number()) {
      const bool exclusive = flag(schema, "exclusiveMinimum");
      if (exclusive ? value <= *least : value < *least) {
        body(path, value, fmt::format("should be greater than {}{}", exclusive ? "" : "or equal to ", least->dump()));
      }
    }
    if (const Json* most = keyword(schema, "maximum"); most != nullptr && most->is_number()) {
      const bool exclusive = flag(schema, "exclusiveMaximum");
      if (exclusive ? value >= *most : value > *most) {
        body(path, value, fmt::format("should be less than {}{}", exclusive ? "" : "or equal to ", most->dump()));
      }
    }
    const Json* factor = keyword(schema, "multipleOf");
    if (factor == nullptr || !factor->is_number() || factor->get<double>() <= 0) return;
    const double times = value.get<double>() / factor->get<double>();
    if (std::floor(times) != times) body(path, value, fmt::format("should be a multiple of {}", factor->dump()));
  }

  void check_string(const Json& schema, const std::string& value, const FieldPath& path) {
    if (const auto least = limit(schema, "minLength"); least && utf8_length(value) < *least) {
      body(path, value, fmt::format("should be at least {} chars long", *least));
    }
    if (const auto most = limit(schema, "maxLength"); most && utf8_length(value) > *most) {
      problems.add(path, "FieldValueTooLong", "Too long", fmt::format("may not be more than {} bytes", *most));
    }
    if (const Json* pattern = keyword(schema, "pattern"); pattern != nullptr && pattern->is_string()) {
      const auto& text = pattern->get_ref<const std::string&>();
      if (!matches_pattern(text, value)) body(path, value, fmt::format("should match '{}'", text));
    }
    const std::string format = string_at(schema, {"format"});
    if (!format.empty() && !matches_format(format, value)) {
      problems.add(path, "FieldValueTypeInvalid", "Invalid value: " + Json(value).dump(),
                   fmt::format("{} in body must be of type {}: \"{}\"", path.to_string(), format, value));
    }
  }

  void check_list(const Json& schema, const Json& list, const FieldPath& path) {
    if (const auto least = limit(schema, "minItems"); least && list.size() < *least) {
      body(path, list.size(), fmt::format("should have at least {} items", *least));
    }
    too_many(schema, "maxItems", list.size(), path);
    const Json* items = keyword(schema, "items");
    if (items != nullptr) {
      for (std::size_t i = 0; i < list.size(); ++i) run(*items, list[i], path.item(i));
    }
    if (unique_keys_) check_unique(schema, items, list, path);
  }

  void too_many(const Json& schema, const char* name, std::size_t size, const FieldPath& path) {
    const auto most = limit(schema, name);
    if (!most || size <= *most) return;
    problems.add(path, "FieldValueTooMany", fmt::format("Too many: {}", size),
                 fmt::format("must have at most {} items", *most));
  }

  void check_unique(const Json& schema, const Json* items, const Json& list, const FieldPath& path) {
    const std::string type = string_at(schema, {"x-kubernetes-list-type"});
    const Json* keys = keyword(schema, "x-kubernetes-list-map-keys");
    if (type != "set" && (type != "map" || keys == nullptr)) return;
    std::set<Json> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (type == "map" && !list[i].is_object()) continue;
      Json key = type == "set" ? list[i] : key_of(list[i], *keys, items);
      if (const auto [position, added] = seen.insert(std::move(key)); !added)
        problems.duplicate(path.item(i), *position);
    }
  }

  void check_object(const Json& schema, const Json& object, const FieldPath& path) {
    if (const Json* required = keyword(schema, "required"); required != nullptr && required->is_array()) {
      for (const Json& name : *required) {
        if (!name.is_string() || object.contains(name.get_ref<const std::string&>())) continue;
        problems.required(path.member(name.get_ref<const std::string&>()));
      }
    }
    if (const auto least = limit(schema, "minProperties"); least && object.size() < *least) {
      body(path, object.size(), fmt::format("should have at least {} properties", *least));
    }
    too_many(schema, "maxProperties", object.size(), path);
    if (flag(schema, "x-kubernetes-embedded-resource")) check_embedded(object, path);
    const Json* properties = keyword(schema, "properties");
    const Json* others = keyword(schema, "additionalProperties");
    for (const auto& [name, value] : object.items()) {
      const Json* property = properties != nullptr ? keyword(*properties, name.c_str()) : nullptr;
      if (property == nullptr) property = others;
      if (property != nullptr) run(*property, value, path.member(name));
    }
  }

  void check_embedded(const Json& object, const FieldPath& path) {
    for (const char* name : {"apiVersion", "kind"}) {
      if (string_at(object, {name}).empty()) problems.required(path.member(name), "must not be empty");
    }
  }

  void check_combinations(const Json& schema, const Json& value, const FieldPath& path) {
    const bool any_of_them = std::any_of(kCombinations.begin(), kCombinations.end(),
                                         [&schema](const char* name) { return keyword(schema, name) != nullptr; });
    if (!any_of_them) return;
    const std::string name = fmt::format("\"{}\"", path.to_string());
    const auto add_error = [this](std::string_view what) { problems.invalid(FieldPath(), "", what); };
    if (const Json* all = keyword(schema, "allOf"); all != nullptr && all->is_array()) {
      const std::size_t before = problems.list().size();
      for (const Json& each : *all) run(each, value, path);
      if (problems.list().size() != before) add_error(name + " must validate all the schemas (allOf)");
    }
    if (const Json* any = keyword(schema, "anyOf"); any != nullptr && any->is_array()) {
      if (count_valid(*any, value) == 0) add_error(name + " must validate at least one schema (anyOf)");
    }
    if (const Json* one = keyword(schema, "oneOf"); one != nullptr && one->is_array()) {
      const std::size_t valid = count_valid(*one, value);
      const std::string found = valid == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", valid);
      if (valid != 1) add_error(name + " must validate one and only one schema (oneOf). " + found);
    }
    const Json* negated = keyword(schema, "not");
    if (negated != nullptr && count_valid(Json::array({*negated}), value) == 1) {
      add_error(name + " must not validate the schema (not)");
    }
  }

  static std::size_t count_valid(const Json& schemas, const Json& value) {
    std::size_t valid = 0;
    for (const Json& each : schemas) {
      Validator validator(true);
      validator.run(each, value, FieldPath());
      if (validator.problems.empty()) ++valid;
    }
    return valid;
  }

  const bool unique_keys_;
};

}  // namespace

std::vector<FieldProblem> validate(const Json& schema, const Json& object) {
  Validator validator(true);
  validator.run(schema, object, FieldPath());
  return validator.problems.take();
}

std::vector<FieldProblem> validate_values(const Json& schema, const Json& object) {
  Validator validator(false);
  validator.run(schema, object, FieldPath());
  return validator.problems.take();
}

}  // namespace tpuslice::sim
