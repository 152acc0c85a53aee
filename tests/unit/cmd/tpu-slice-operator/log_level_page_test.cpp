#include "cmd/tpu-slice-operator/log_level_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

class LogLevelPageTest : public ::testing::Test {
 protected:
  http::Response ask(const std::string& method, const std::string& body = {}) {
    return answer_log_level({.method = method, .target = "/debug/log-level", .body = body}, log_);
  }

  std::vector<std::string> lines_;
  const Logger log_{{.format = LogFormat::kText, .sink = [this](std::string_view line) { lines_.emplace_back(line); }}};
};

TEST_F(LogLevelPageTest, ShowsTheLevel) {
  EXPECT_EQ(ask("GET", "debug").body, "info\n");
  EXPECT_EQ(log_.level(), LogLevel::kInfo);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LogLevelPageTest, SetsTheLevelAndLogsTheChange) {
  for (const char* level : {"debug", "error", "warn\n", "warn"}) {
    const http::Response answer = ask("PUT", level);
    EXPECT_EQ(answer.status, 200) << level;
    EXPECT_EQ(log_.level(), parse_log_level(answer.body.substr(0, answer.body.size() - 1)).value());
  }
  EXPECT_THAT(lines_, ElementsAre(EndsWith("log level changed from=info to=debug"),
                                  EndsWith("log level changed from=debug to=error"),
                                  EndsWith("log level changed from=error to=warn")))
      << "a level that is the same is no change";
}

TEST_F(LogLevelPageTest, RefusesABodyThatIsNoLevel) {
  for (const char* level : {"", "DEBUG", "loud"}) {
    const http::Response answer = ask("PUT", level);
    EXPECT_EQ(answer.status, 400) << level;
    EXPECT_THAT(answer.body, EndsWith("must be debug, info, warn or error\n"));
  }
  EXPECT_EQ(log_.level(), LogLevel::kInfo);
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace tpuslice
