// Result<T> and Error: how every expected failure travels.
//
// An expected failure (the object does not exist, the server refused) is a value; a bug is TPUSLICE_CHECK. The code of
// an Error chooses the caller's reaction, its message is for people: lower case, no full stop, subject first, the
// actual value included.
//
//   Result<Topology> topology = parse_topology("4x4");
//   if (!topology) return topology.error();
//   use(*topology);
//
//   RETURN_IF_ERROR(executor.apply(plan));
//   ASSIGN_OR_RETURN(const Topology topology, parse_topology(text));
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "api/base/check.h"
#include "api/base/clock.h"

namespace tpuslice {

/// What a caller can do about it.
enum class ErrorCode {
  kInvalidArgument,  ///< Our input is wrong: terminal until the input changes. Also HTTP 400.
  kInvalid,          ///< The API server refused the object (422): terminal until it changes.
  kNotFound,         ///< 404.
  kAlreadyExists,    ///< 409 AlreadyExists: look at who owns it.
  kConflict,         ///< 409 Conflict, a precondition failed: observe again.
  kUnauthorized,     ///< 401: credentials are refreshed, then tried again.
  kForbidden,        ///< 403: refused by RBAC or an admission plugin.
  kExpired,          ///< 410 Gone or Expired: list again.
  kTooManyRequests,  ///< 429: wait `retry_after`.
  kTimeout,          ///< A deadline passed; whether the server acted is unknown. Also HTTP 504.
  kCancelled,        ///< We were asked to stop.
  kUnavailable,      ///< No connection, or 5xx; whether the server acted is unknown. Also a system call that failed.
  kResponseTooLong,  ///< The response is longer than a limit: ask for less.
  kUnsupported,      ///< Valid, but not implemented by this program.
  kInternal,         ///< A peer broke its contract.
  kDefect,           ///< A bug of this program: an exception, or a case that cannot occur.
};

/// "NotFound", "Conflict", ... as printed in logs and metrics.
[[nodiscard]] std::string_view to_string(ErrorCode code);

class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  template <typename... Args>
  static Error invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kInvalidArgument, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  static Error not_found(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kNotFound, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  static Error conflict(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kConflict, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  static Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kUnsupported, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  static Error unavailable(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kUnavailable, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  static Error internal(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kInternal, format, fmt::make_format_args(args...));
  }
  template <typename... Args>
  static Error defect(fmt::format_string<Args...> format, Args&&... args) {
    return make(ErrorCode::kDefect, format, fmt::make_format_args(args...));
  }
  /// Any code.
  template <typename... Args>
  static Error of(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
    return make(code, format, fmt::make_format_args(args...));
  }

  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  /// The `reason` of a Kubernetes Status ("AlreadyExists"), or of its cause if that says more; empty for our own
  /// errors.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  Error& with_reason(std::string reason) {
    reason_ = std::move(reason);
    return *this;
  }
  /// The fields that the causes of a Kubernetes Status name: "metadata.uid".
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  Error& with_fields(std::vector<std::string> fields) {
    fields_ = std::move(fields);
    return *this;
  }
  /// Retry-After of the response.
  [[nodiscard]] std::optional<Duration> retry_after() const { return retry_after_; }
  Error& with_retry_after(Duration wait) {
    retry_after_ = wait;
    return *this;
  }
  /// The same error, its message prefixed with "<context>: ".
  [[nodiscard]] Error within(std::string_view context) const {
    Error copy = *this;
    copy.message_.insert(0, std::string(context) + ": ");
    return copy;
  }

 private:
  static Error make(ErrorCode code, fmt::string_view format, fmt::format_args args) {
    return {code, fmt::vformat(format, args)};
  }

  ErrorCode code_;
  std::string message_;
  std::string reason_;
  std::vector<std::string> fields_;
  std::optional<Duration> retry_after_;
};

/// A value of type T, or an error.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] const Error& error() const {
    TPUSLICE_CHECK(!ok());
    return std::get<1>(state_);
  }
  [[nodiscard]] const T& value() const& {
    require();
    return std::get<0>(state_);
  }
  [[nodiscard]] T& value() & {
    require();
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    require();
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  [[nodiscard]] T value_or(T fallback) const& { return ok() ? value() : std::move(fallback); }

 private:
  void require() const { TPUSLICE_CHECK_MSG(ok(), ok() ? "" : std::get<1>(state_).message()); }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    TPUSLICE_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

/// Success, or an error.
using Status = Result<void>;

}  // namespace tpuslice

#define TPUSLICE_CONCAT_INNER(a, b) a##b
#define TPUSLICE_CONCAT(a, b) TPUSLICE_CONCAT_INNER(a, b)

/// Returns the error of `expression`, if it is one, from the enclosing function.
#define RETURN_IF_ERROR(expression)                                                                 \
  do {                                                                                              \
    if (auto tpuslice_status = (expression); !tpuslice_status.ok()) return tpuslice_status.error(); \
  } while (false)

/// Declares `declaration` with the value of `expression`, or returns its error from the enclosing function.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(TPUSLICE_CONCAT(tpuslice_result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.error();                      \
  declaration = std::move(result).value()
