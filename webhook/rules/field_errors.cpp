#include "webhook/rules/field_errors.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
namespace tpuslice::webhook {
namespace {

/// Bytes. A value can be as large as a request.
constexpr std::size_t kMaxValue = 128;
/// Keys of labels, with the path to them.
constexpr std::size_t kMaxPath = 512;
constexpr std::size_t kMaxDetail = 1024;

std::string print(const Json& value) {
  return clip(value.dump(-1, ' ', false, Json::error_handler_t::replace), kMaxValue);
}

}  // namespace

std::string FieldError::shown_path() const { return clip(path, kMaxPath); }

std::string FieldError::to_string() const { return shown_path() + ": " + problem_text(); }

std::string FieldError::problem_text() const {
  const std::string why = clip(detail, kMaxDetail);
  switch (problem) {
    case FieldProblem::kRequired:
      return why.empty() ? "Required value" : "Required value: " + why;
    case FieldProblem::kForbidden:
      return "Forbidden: " + why;
    case FieldProblem::kNotSupported:
      return fmt::format("Unsupported value: {}: {}", found, why);
    case FieldProblem::kTooMany:
      return fmt::format("Too many: {}: {}", found, why);
    case FieldProblem::kDuplicate:
      return "Duplicate value: " + found + (why.empty() ? "" : ": " + why);
    case FieldProblem::kInvalid:
      break;
  }
  return fmt::format("Invalid value: {}: {}", found, why);
}

FieldError invalid_value(std::string path, const Json& found, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kInvalid, print(found), std::move(detail), std::string(rule)};
}

FieldError immutable(std::string path, const Json& found, const Json& before, std::string_view rule) {
  return invalid_value(std::move(path), found,
                       fmt::format("field is immutable, was {}", before.is_null() ? "unset" : print(before)), rule);
}

FieldError duplicate_value(std::string path, const Json& found, std::string_view rule, std::string detail) {
  return {std::move(path), FieldProblem::kDuplicate, print(found), std::move(detail), std::string(rule)};
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
  const std::set<FieldError> known(before.begin(), before.end());
  std::erase_if(errors, [&](const FieldError& error) { return known.contains(error); });
  return errors;
}

std::string to_message(const std::vector<FieldError>& errors) {
  if (errors.empty()) return {};
  if (errors.size() == 1) return errors.front().to_string();
  std::string message = "[";
  for (std::size_t i = 0; i < errors.size() && i < kMaxReportedErrors; ++i) {
    if (i > 0) message += ", ";
    message += errors[i].to_string();
  }
  if (errors.size() > kMaxReportedErrors) message += fmt::format(", and {} more", errors.size() - kMaxReportedErrors);
  return message + "]";
}

}  // namespace tpuslice::webhook
