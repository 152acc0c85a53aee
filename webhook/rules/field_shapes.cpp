#include "webhook/rules/field_shapes.h"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "webhook/rules/fields.h"

namespace tpuslice::webhook {
namespace {

/// What is wrong with the type or the size of `value`; empty if nothing is.
std::string type_complaint(const FieldShape& shape, const Json& value) {
  switch (shape.type) {
    case FieldType::kObject:
      return value.is_object() ? "" : "must be an object";
    case FieldType::kList:
      if (!value.is_array()) return "must be a list";
      if (shape.most == 0 || value.size() <= shape.most) return "";
      return fmt::format("has {} elements, at most {} are allowed", value.size(), shape.most);
    case FieldType::kString:
      return value.is_string() ? "" : "must be a string";
    case FieldType::kBoolean:
      return value.is_boolean() ? "" : "must be true or false";
    case FieldType::kInteger:
      return value.is_number_integer() ? "" : "must be a whole number";
    case FieldType::kInt32: {
      using Int32 = std::numeric_limits<std::int32_t>;
      const auto number = int_at(value, {});
      if (number && (shape.negative || *number >= 0)) return "";
      return fmt::format("must be a whole number from {} to {}", shape.negative ? Int32::min() : 0, Int32::max());
    }
  }
  return "";
}

/// Whether `text` is one of "a|b|c".
bool is_choice(std::string_view choices, std::string_view text) {
  for (;;) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

std::string choice_complaint(std::string_view choices) {
  std::string text = "must be ";
  for (const char c : choices) text += c == '|' ? std::string(" or ") : std::string(1, c);
  return text;
}

/// The table's rule, and where errors go.
struct ShapeCheck {
  std::string_view rule;
  std::vector<FieldError>& errors;

  /// `value` is null if the field is absent.
  void check(const FieldShape& shape, const Json* value, const std::string& path) const {
    const std::string_view source = shape.rule.empty() ? rule : shape.rule;
    if (value == nullptr) {
      if (shape.required) errors.push_back(required_value(path, "must be set", source));
      return;
    }
    if (std::string complaint = type_complaint(shape, *value); !complaint.empty()) {
      errors.push_back(invalid_value(path, *value, std::move(complaint), source));
    } else if (!shape.values.empty() && !is_choice(shape.values, value->get_ref<const std::string&>())) {
      errors.push_back(invalid_value(path, *value, choice_complaint(shape.values), source));
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

void check_shapes(const Json& json, std::span<const FieldShape> shapes, std::string_view rule,
                  std::vector<FieldError>& errors) {
  const ShapeCheck table{rule, errors};
  for (const FieldShape& shape : shapes) table.walk(shape, shape.path, json, "");
}

}  // namespace tpuslice::webhook
