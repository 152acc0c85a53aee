#include "tpu/rules/field_shapes.h"

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "api/base/strings.h"

namespace tpuslice::rules {
namespace {

/// Why `value` does not have the type of the shape; empty if it has.
std::string type_error(const FieldShape& shape, const Json& value) {
  switch (shape.type) {
    case FieldType::kObject:
      return value.is_object() ? "" : "must be an object";
    case FieldType::kList:
      return value.is_array() ? "" : "must be a list";
    case FieldType::kString:
      return value.is_string() ? "" : "must be a string";
    case FieldType::kBoolean:
      return value.is_boolean() ? "" : "must be true or false";
    case FieldType::kInteger:
      return value.is_number_integer() ? "" : "must be an integer";
    case FieldType::kInt32: {
      using Int32 = std::numeric_limits<std::int32_t>;
      const auto number = int32_at(value, {});
      if (number && (shape.negative || *number >= 0)) return "";
      return fmt::format("must be {}between {} and {}, inclusive", value.is_number_integer() ? "" : "an integer ",
                         shape.negative ? Int32::min() : 0, Int32::max());
    }
  }
  return "";
}

struct ShapeCheck {
  std::string_view rule;
  FieldErrors& errors;

  /// `value` is null if the field is absent.
  void check(const FieldShape& shape, const Json* value, const std::string& path) const {
    const std::string_view source = shape.rule.empty() ? rule : shape.rule;
    if (value == nullptr) {
      if (shape.required) errors.add([&] { return required_value(path, "", source); });
      return;
    }
    if (const std::string error = type_error(shape, *value); !error.empty()) {
      errors.add([&] { return invalid_value(path, *value, error, source); });
    } else if (shape.max > 0 && value->size() > shape.max) {
      errors.push_back(too_many(path, value->size(), shape.max, source));
    } else if (!shape.values.empty()) {
      std::vector<std::string> supported = split(shape.values, '|');
      if (std::ranges::count(supported, value->get_ref<const std::string&>()) > 0) return;
      std::erase(supported, "");
      errors.add([&] { return not_supported(path, *value, supported, source); });
    }
  }

  /// Follows `steps`, the rest of the shape's path, from `at`.
  void walk(const FieldShape& shape, std::string_view steps, const Json& at, const std::string& path) const {
    const std::size_t dot = steps.find('.');
    const std::string_view step = steps.substr(0, dot);
    const auto visit = [&](const Json* value, const std::string& value_path) {
      if (dot == std::string_view::npos) {
        check(shape, value, value_path);
      } else if (value != nullptr) {
        walk(shape, steps.substr(dot + 1), *value, value_path);
      }
    };
    if (step == "*") {
      if (!at.is_array()) return;
      for (std::size_t index = 0; index < at.size(); ++index) visit(&at[index], fmt::format("{}[{}]", path, index));
    } else if (at.is_object()) {
      visit(find_set(at, {step}), path.empty() ? std::string(step) : fmt::format("{}.{}", path, step));
    }
  }
};

}  // namespace

void check_shapes(const Json& json, std::span<const FieldShape> shapes, std::string_view rule, FieldErrors& errors) {
  const ShapeCheck table{rule, errors};
  for (const FieldShape& shape : shapes) table.walk(shape, shape.path, json, "");
}

}  // namespace tpuslice::rules
