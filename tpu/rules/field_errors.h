// FieldError: what is wrong with one field of an object.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/types/json.h"
#include "api/types/utf8.h"

namespace tpuslice::rules {

/// The error types of apimachinery's package field that the rules need.
enum class FieldProblem : std::uint8_t { kInvalid, kRequired, kForbidden, kNotSupported, kTooMany, kDuplicate };

/// Prints as the API server does: "spec.workerGroupSpecs[0].numOfHosts: Invalid value: 2: topology 4x4 ...".
struct FieldError {
  std::string path;  ///< "spec.workerGroupSpecs[0].numOfHosts"
  FieldProblem problem = FieldProblem::kInvalid;
  /// kInvalid, kNotSupported, kDuplicate: the value as JSON, truncated; kTooMany: the number of items.
  std::string found;
  std::string detail;  ///< What is wrong, and which value would be right; may be empty for kRequired and kDuplicate.
  std::string rule;    ///< The source of the rule: one of those below, or one of the kind's.

  /// Long paths and details, which contain keys and names of users, are shortened.
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] std::string shown_path() const;
  /// The same without the path.
  [[nodiscard]] std::string problem_text() const;
  friend auto operator<=>(const FieldError&, const FieldError&) = default;
};

/// Sources of rules.
inline constexpr std::string_view kKubernetesRule = "kubernetes";
inline constexpr std::string_view kKubeRayRule = "kuberay";
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

/// Errors that are reported; an object can have as many as it has fields.
inline constexpr std::size_t kMaxReportedErrors = 16;

/// The errors of an object, in the order in which they are found. The first kMaxReportedErrors are kept, others are
/// only counted.
///
///   errors.push_back(required_value("spec.x", "", kOurRule));
///   errors.add([&] { return invalid_value(fmt::format("spec.labels[{}]", key), value, "...", kOurRule); });
class FieldErrors {
 public:
  using value_type = FieldError;
  using const_iterator = std::vector<FieldError>::const_iterator;
  using iterator = const_iterator;
  using Receiver = std::function<void(FieldError&& error)>;

  FieldErrors() = default;
  FieldErrors(std::initializer_list<FieldError> errors);
  /// Keeps none; each is passed to `receiver`.
  explicit FieldErrors(Receiver receiver) : receiver_(std::move(receiver)) {}

  void push_back(FieldError error);
  /// For one that each element of a list or map can have: `make` returns it, and is not called if it is only counted.
  template <std::invocable Make>
  void add(const Make& make) {
    if (receiver_ || size_ < kMaxReportedErrors) {
      push_back(make());
    } else {
      ++size_;
    }
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Number of all errors, also of those that are not kept.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The errors that are kept.
  [[nodiscard]] const_iterator begin() const { return kept_.begin(); }
  [[nodiscard]] const_iterator end() const { return kept_.end(); }
  [[nodiscard]] const FieldError& front() const { return kept_.front(); }

 private:
  Receiver receiver_;
  std::vector<FieldError> kept_;
  std::size_t size_ = 0;
};

/// A set of errors, of which it has the hashes only.
class FieldErrorSet {
 public:
  /// False if it is there already.
  bool insert(const FieldError& error);
  [[nodiscard]] bool contains(const FieldError& error) const;
  [[nodiscard]] bool empty() const { return hashes_.empty(); }

 private:
  std::unordered_set<std::size_t> hashes_;
};

/// Adds the errors of an object.
using FieldCheck = std::function<void(FieldErrors& errors)>;

/// The errors that `check` adds and `check_stored` does not; all if `check_stored` is empty. Errors of the stored
/// object do not refuse an update, so that objects older than the rules can still be labelled, finalized and deleted.
[[nodiscard]] FieldErrors new_errors(const FieldCheck& check, const FieldCheck& check_stored);

/// One message for all: the error, or "[first, second, and 3 more]", as the API server joins them. Empty for none.
[[nodiscard]] std::string to_message(const FieldErrors& errors);

}  // namespace tpuslice::rules
