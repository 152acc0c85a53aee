#include "cmd/tpu-slice-operator/log_level_page.h"

#include <algorithm>
#include <string>

#include "api/base/strings.h"

namespace tpuslice {
namespace {

http::Response plain_text(int status, std::string_view text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::string(text) + "\n"};
}

void change_level(const Logger& log, LogLevel level) {
  const LogLevel before = log.level();
  if (level == before) return;
  log.set_level(std::min({level, before, LogLevel::kWarn}));  // So that the line is printed.
  log.warn("log level changed", {{"from", to_string(before)}, {"to", to_string(level)}});
  log.set_level(level);
}

}  // namespace

http::Response answer_log_level(const http::Request& request, const Logger& log) {
  if (request.method == "PUT") {
    const Result<LogLevel> level = parse_log_level(trimmed(request.body));
    if (!level) return plain_text(400, level.error().message());
    change_level(log, *level);
  }
  return plain_text(200, to_string(log.level()));
}

}  // namespace tpuslice
