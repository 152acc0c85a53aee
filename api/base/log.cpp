#include "api/base/log.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <nlohmann/json.hpp>

namespace tpuslice {
namespace {

using Json = nlohmann::json;

/// Hands spdlog's payload to a function; that function is thread-safe, so no lock is held around it.
class FunctionSink final : public spdlog::sinks::sink {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}
  void log(const spdlog::details::log_msg& message) override {
    take_({message.payload.data(), message.payload.size()});
  }
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  const std::function<void(std::string_view)> take_;
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  static constexpr std::array kLevels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                         spdlog::level::err};
  return kLevels.at(static_cast<std::size_t>(level));
}

/// The name of the level in Cloud Logging, which takes lines on stderr without a severity for errors.
std::string_view severity_of(LogLevel level) {
  static constexpr std::array<std::string_view, 4> kNames = {"DEBUG", "INFO", "WARNING", "ERROR"};
  return kNames.at(static_cast<std::size_t>(level));
}

/// Bytes that are no UTF-8 must not make a log line unreadable.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const LogValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value.get());
}

/// A value of key=value text: a string is quoted only if it would be ambiguous otherwise.
std::string to_text(const LogValue& value) {
  const Json json = to_json(value);
  if (!json.is_string()) return dump(json);
  const auto& text = json.get_ref<const std::string&>();
  const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7f;
  });
  return bare ? text : dump(json);
}

void append_json(std::string& line, const LogField& field) {
  const bool taken = field.key == "ts" || field.key == "level" || field.key == "severity" || field.key == "msg";
  line += ',';
  line += dump(Json(taken ? "field_" + field.key : field.key));
  line += ':';
  line += dump(to_json(field.value));
}

void append_text(std::string& line, const LogField& field) {
  line += ' ';
  line += field.key;
  line += '=';
  line += to_text(field.value);
}

}  // namespace

std::string_view to_string(LogLevel level) {
  static constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warn", "error"};
  return kNames.at(static_cast<std::size_t>(level));
}

Result<LogLevel> parse_log_level(std::string_view text) {
  for (const auto level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    if (text == to_string(level)) return level;
  }
  return Error::invalid_argument("log level is \"{}\", must be debug, info, warn or error", text);
}

Result<LogFormat> parse_log_format(std::string_view text) {
  if (text == "json") return LogFormat::kJson;
  if (text == "text") return LogFormat::kText;
  return Error::invalid_argument("log format is \"{}\", must be json or text", text);
}

struct Logger::Core {
  explicit Core(LogOptions options)
      : format(options.format), clock(options.clock != nullptr ? *options.clock : real_clock), out("tpuslice") {
    if (options.sink) {
      out.sinks().push_back(std::make_shared<FunctionSink>(std::move(options.sink)));
    } else {
      out.sinks().push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    }
    out.set_level(to_spdlog(options.level));
    out.set_pattern("%v");
  }

  const RealClock real_clock;
  const LogFormat format;
  const Clock& clock;
  mutable spdlog::logger out;  // Its own log() and set_level() are thread-safe, but not const.
};

Logger::Logger(LogOptions options) : core_(std::make_shared<const Core>(std::move(options))) {}

bool Logger::enabled(LogLevel level) const { return core_ != nullptr && core_->out.should_log(to_spdlog(level)); }

LogLevel Logger::level() const {
  for (const auto level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn}) {
    if (enabled(level)) return level;
  }
  return LogLevel::kError;
}

void Logger::set_level(LogLevel level) const {
  if (core_ != nullptr) core_->out.set_level(to_spdlog(level));
}

Logger Logger::with(LogFields fields) const {
  Logger copy = *this;
  Fields all(fields);
  if (bound_) {
    for (const LogField& field : *bound_) {
      const auto same = [&](const LogField& other) { return other.key == field.key; };
      if (std::none_of(fields.begin(), fields.end(), same)) all.push_back(field);
    }
    // Older bindings first, so that lines of one component begin alike.
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(fields.size()), all.end());
  }
  copy.bound_ = std::make_shared<const Fields>(std::move(all));
  return copy;
}

void Logger::log(LogLevel level, std::string_view message, LogFields fields) const noexcept {
  if (!enabled(level)) return;
  try {
    const bool json = core_->format == LogFormat::kJson;
    const std::string time = format_rfc3339_micro(core_->clock.wall());
    std::string line = json ? fmt::format(R"({{"ts":"{}","level":"{}","severity":"{}","msg":{})", time,
                                          to_string(level), severity_of(level), dump(Json(std::string(message))))
                            : fmt::format("{} {:<5} {}", time, to_string(level), message);
    const auto append = [&](const LogField& field) { json ? append_json(line, field) : append_text(line, field); };
    if (bound_) {
      for (const LogField& field : *bound_) {
        const auto same = [&](const LogField& other) { return other.key == field.key; };
        if (std::none_of(fields.begin(), fields.end(), same)) append(field);
      }
    }
    for (const LogField& field : fields) append(field);
    if (json) line += '}';
    core_->out.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  } catch (...) {
    std::fputs("a log line was lost: out of memory or a failing sink\n", stderr);
  }
}

}  // namespace tpuslice
