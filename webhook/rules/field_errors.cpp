#include "webhook/rules/field_errors.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::webhook {
namespace {

constexpr std::size_t kLongestValue = 128;  // Bytes; somebody may have sent a megabyte.

std::string print(const Json& value) {
  return clip(value.dump(-1, ' ', false, Json::error_handler_t::replace), kLongestValue);
}

}  // namespace

std::string FieldError::to_string() const { return path + ": " + problem_text(); }

std::string FieldError::problem_text() const {
  switch (problem) {
    case FieldProblem::kRequired:
      return "Required value: " + detail;
    case FieldProblem::kForbidden:
      return "Forbidden: " + detail;
    case FieldProblem::kInvalid:
      break;
  }
  return fmt::format("Invalid value: {}: {}", found, detail);
}

FieldError invalid_value(std::string path, const Json& found, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kInvalid, print(found), std::move(detail), std::string(rule)};
}

FieldError required_value(std::string path, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kRequired, {}, std::move(detail), std::string(rule)};
}

FieldError forbidden(std::string path, std::string detail, std::string_view rule) {
  return {std::move(path), FieldProblem::kForbidden, {}, std::move(detail), std::string(rule)};
}

std::vector<FieldError> new_errors(std::vector<FieldError> errors, const std::vector<FieldError>& before) {
  std::erase_if(
      errors, [&](const FieldError& error) { return std::find(before.begin(), before.end(), error) != before.end(); });
  return errors;
}

std::string clip(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text + "...";
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
