#include "tpu/rules/field_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::rules {
namespace {

/// Bytes. A value can be as large as a request.
constexpr std::size_t kMaxValue = 128;
/// Keys of labels, with the path to them.
constexpr std::size_t kMaxPath = 512;
constexpr std::size_t kMaxDetail = 1024;

std::string print(const Json& value) {
  return clip(value.dump(-1, ' ', false, Json::error_handler_t::replace), kMaxValue);
}

std::size_t hash_of(const FieldError& error) {
  auto out = static_cast<std::size_t>(error.problem);
  for (const std::string* part : {&error.path, &error.found, &error.detail, &error.rule}) {
    out ^= std::hash<std::string>()(*part) + 0x9e3779b97f4a7c15U + (out << 6U) + (out >> 2U);
  }
  return out;
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

FieldErrors::FieldErrors(std::initializer_list<FieldError> errors) {
  for (const FieldError& error : errors) push_back(error);
}

void FieldErrors::push_back(FieldError error) {
  ++size_;
  if (receiver_) {
    receiver_(std::move(error));
  } else if (kept_.size() < kMaxReportedErrors) {
    kept_.push_back(std::move(error));
  }
}

bool FieldErrorSet::insert(const FieldError& error) { return hashes_.insert(hash_of(error)).second; }
bool FieldErrorSet::contains(const FieldError& error) const { return hashes_.contains(hash_of(error)); }

FieldErrors new_errors(const FieldCheck& check, const FieldCheck& check_stored) {
  FieldErrors errors;
  check(errors);
  if (errors.empty() || !check_stored) return errors;
  FieldErrorSet stored;
  FieldErrors before([&](FieldError&& error) { stored.insert(error); });
  check_stored(before);
  if (stored.empty()) return errors;
  FieldErrors left;
  FieldErrors after([&](FieldError&& error) {
    if (!stored.contains(error)) left.push_back(std::move(error));
  });
  check(after);
  return left;
}

std::string to_message(const FieldErrors& errors) {
  if (errors.size() == 1) return errors.front().to_string();
  std::string message;
  std::size_t left = errors.size();
  for (const FieldError& error : errors) {
    message += (message.empty() ? "[" : ", ") + error.to_string();
    --left;
  }
  if (left > 0) message += fmt::format(", and {} more", left);
  return message.empty() ? message : message + "]";
}

}  // namespace tpuslice::rules
