// FieldError: what is wrong with one field of an object.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"
#include "api/types/utf8.h"

namespace tpuslice::webhook {

/// The error types of apimachinery's package field that the rules need.
enum class FieldProblem : std::uint8_t { kInvalid, kRequired, kForbidden, kNotSupported, kTooMany, kDuplicate };

/// Prints as the API server does: "spec.workerGroupSpecs[0].numOfHosts: Invalid value: 2: topology 4x4 ...".
struct FieldError {
  std::string path;  ///< "spec.workerGroupSpecs[0].numOfHosts"
  FieldProblem problem = FieldProblem::kInvalid;
  std::string
      found;  ///< kInvalid, kNotSupported, kDuplicate: the value as JSON, truncated; kTooMany: the number of items.
  std::string detail;  ///< What is wrong, and which value would be right; may be empty for kRequired and kDuplicate.
  std::string rule;    ///< Where the rule comes from: one of those below.

  /// Long paths and details, which contain keys and names of users, are shortened.
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] std::string shown_path() const;
  /// The same without the path.
  [[nodiscard]] std::string problem_text() const;
  friend auto operator<=>(const FieldError&, const FieldError&) = default;
};

/// Where rules come from.
inline constexpr std::string_view kKubernetesRule = "kubernetes";
inline constexpr std::string_view kKubeRayRule = "kuberay";
inline constexpr std::string_view kJobSetRule = "jobset";
inline constexpr std::string_view kLeaderWorkerSetRule = "lws";
inline constexpr std::string_view kGkeRule = "gke";
inline constexpr std::string_view kOurRule = "tpuslice";

[[nodiscard]] FieldError invalid_value(std::string path, const Json& found, std::string detail, std::string_view rule);
/// "Invalid value: 2: field is immutable, was 1". `before` is null if the field was absent.
[[nodiscard]] FieldError immutable(std::string path, const Json& found, const Json& before, std::string_view rule);
/// "Duplicate value: "workers"", and `detail` if it is not empty.
[[nodiscard]] FieldError duplicate_value(std::string path, const Json& found, std::string_view rule,
                                         std::string detail = {});
[[nodiscard]] FieldError required_value(std::string path, std::string detail, std::string_view rule);
[[nodiscard]] FieldError forbidden(std::string path, std::string detail, std::string_view rule);
/// "Unsupported value: "Rolling": supported values: "None", "Recreate"".
[[nodiscard]] FieldError not_supported(std::string path, const Json& found, const std::vector<std::string>& supported,
                                       std::string_view rule);
[[nodiscard]] FieldError too_many(std::string path, std::size_t found, std::size_t max, std::string_view rule);

/// The errors that are not in `before`. Errors of the stored object do not refuse an update, so that objects older than
/// the rules can still be labelled, finalized and deleted.
[[nodiscard]] std::vector<FieldError> new_errors(std::vector<FieldError> errors, const std::vector<FieldError>& before);

/// Errors that are reported; an object can have as many as it has fields.
inline constexpr std::size_t kMaxReportedErrors = 16;

/// One message for all: the error, or "[first, second, and 3 more]", as the API server joins them. Empty for none.
[[nodiscard]] std::string to_message(const std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
