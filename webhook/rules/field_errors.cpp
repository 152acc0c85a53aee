#include "webhook/rules/field_errors.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/utf8.h"

namespace tpuslice::webhook {
namespace {

/// Bytes. A value can be as large as a request.
constexpr std::size_t kMaxValue = 128;

std::string print(const Json& value) {
  return clip(value.dump(-1, ' ', false, Json::error_handler_t::replace), kMaxValue);
}

}  // namespace

std::string FieldError::to_string() const { return path + ": " + problem_text(); }

std::string FieldError::problem_text() const {
  switch (problem) {
    case FieldProblem::kRequired:
      return detail.empty() ? "Required value" : "Required value: " + detail;
    case FieldProblem::kForbidden:
      return "Forbidden: " + detail;
    case FieldProblem::kNotSupported:
      return fmt::format("Unsupported value: {}: {}", found, detail);
    case FieldProblem::kTooMany:
      return fmt::format("Too many: {}: {}", found, detail);
    case FieldProblem::kDuplicate:
      return "Duplicate value: " + found;
    case FieldProblem::kInvalid:
      break;
  }
  return fmt::format("Invalid value: {}: {}", found, detail);
}

FieldError invalid_value(std::string path, const Json& found, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kInvalid, print(found), std::move(detail), std::string(rule)};
}

FieldError immutable(std::string path, const Json& found, const Json& before, std::string_view rule) {
  return invalid_value(std::move(path), found,
                       fmt::format("field is immutable, was {}", before.is_null() ? "unset" : print(before)), rule);
}

FieldError duplicate_value(std::string path, const Json& found, std::string_view rule) {
  return {std::move(path), FieldProblem::kDuplicate, print(found), {}, std::string(rule)};
}

FieldError required_value(std::string path, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kRequired, {}, std::move(detail), std::string(rule)};
}

FieldError forbidden(std::string path, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kForbidden, {}, std::move(detail), std::string(rule)};
}

FieldError not_supported(std::string path, const Json& found, const std::vector<std::string>& supported,
                         std::string_view rule) {
  return {std::move(path), FieldProblem::kNotSupported, print(found),
          fmt::format("supported values: \"{}\"", fmt::join(supported, "\", \"")), std::string(rule)};
}

FieldError too_many(std::string path, std::size_t found, std::size_t max, std::string_view rule) {
  return {std::move(path), FieldProblem::kTooMany, std::to_string(found),
          fmt::format("must have at most {} items", max), std::string(rule)};
}

std::vector<FieldError> new_errors(std::vector<FieldError> errors, const std::vector<FieldError>& before) {
  std::erase_if(
      errors, [&](const FieldError& error) { return std::find(before.begin(), before.end(), error) != before.end(); });
  return errors;
}

std::string clip(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  return std::string(truncate_utf8(text, bytes)) + "...";
}

std::string to_message(const std::vector<FieldError>& errors) {
  if (errors.empty()) return {};
  if (errors.size() == 1) return errors.front().to_string();
  std::string message = "[";
  for (const FieldError& error : errors) {
    if (message.size() > 1) message += ", ";
    message += error.to_string();
  }
  return message + "]";
}

}  // namespace tpuslice::webhook
