// Logger: one line per event, a fixed sentence and its fields.
//
//   const Logger log = root.with({{"controller", "raycluster"}});
//   log.info("plan applied", {{"key", key.to_string()}, {"reason", plan.reason}});
//
// prints, as JSON or as text:
//
//   {"ts":"2026-01-01T00:00:00.000000Z","level":"info","severity":"INFO","msg":"plan applied","key":"default/a",...}
//   2026-01-01T00:00:00.000000Z info  plan applied key=default/a reason="create 4 workers"
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kJson, kText };

/// "debug", "info", "warn", "error".
[[nodiscard]] std::string_view to_string(LogLevel level);
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view text);
/// "json", "text".
[[nodiscard]] Result<LogFormat> parse_log_format(std::string_view text);

class LogValue {
 public:
  using Variant = std::variant<std::string, std::int64_t, std::uint64_t, double, bool>;

  LogValue(std::string value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  LogValue(std::string_view value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  LogValue(const char* value) : value_(std::string(value)) {}       // NOLINT(google-explicit-constructor)
  LogValue(std::same_as<bool> auto value) : value_(value) {}        // NOLINT(google-explicit-constructor)
  LogValue(std::floating_point auto value) : value_(static_cast<double>(value)) {}  // NOLINT
  template <std::signed_integral T>
  LogValue(T value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) LogValue(T value)
      : value_(static_cast<std::uint64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  /// The duration in seconds.
  template <typename Rep, typename Period>
  LogValue(std::chrono::duration<Rep, Period> value)  // NOLINT(google-explicit-constructor)
      : value_(std::chrono::duration<double>(value).count()) {}

  [[nodiscard]] const Variant& get() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  LogField(std::string_view field_key, LogValue field_value) : key(field_key), value(std::move(field_value)) {}
  std::string key;
  LogValue value;
};

using LogFields = std::initializer_list<LogField>;

struct LogOptions {
  LogLevel level = LogLevel::kInfo;  ///< Less than this is not printed.
  LogFormat format = LogFormat::kJson;
  const Clock* clock = nullptr;  ///< Outlives the logger; the real one when null.
  /// Takes each line, without line end, from any thread, several at a time; stderr when empty.
  std::function<void(std::string_view line)> sink;
};

/// A handle, cheap to copy. Thread-safe. Logging never throws and never fails its caller.
class Logger {
 public:
  /// Prints nothing.
  Logger() = default;
  explicit Logger(LogOptions options);

  void debug(std::string_view message, LogFields fields = {}) const { log(LogLevel::kDebug, message, fields); }
  void info(std::string_view message, LogFields fields = {}) const { log(LogLevel::kInfo, message, fields); }
  void warn(std::string_view message, LogFields fields = {}) const { log(LogLevel::kWarn, message, fields); }
  void error(std::string_view message, LogFields fields = {}) const { log(LogLevel::kError, message, fields); }
  void log(LogLevel level, std::string_view message, LogFields fields = {}) const noexcept;

  /// A logger that adds these fields to every line; a line's own field of the same name wins.
  [[nodiscard]] Logger with(LogFields fields) const;
  [[nodiscard]] bool enabled(LogLevel level) const;
  /// kError for a logger that prints nothing.
  [[nodiscard]] LogLevel level() const;
  /// Sets the level of this logger, its copies and those that with() made of them: they share one output. Applies to
  /// the next line.
  void set_level(LogLevel level) const;

 private:
  struct Core;
  using Fields = std::vector<LogField>;

  std::shared_ptr<const Core> core_;
  std::shared_ptr<const Fields> bound_;
};

}  // namespace tpuslice
