#include "api/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LoggerTest : public ::testing::Test {
 protected:
  Logger logger(LogFormat format, LogLevel level = LogLevel::kInfo) {
    return Logger({.level = level, .format = format, .clock = &clock_, .sink = [this](std::string_view line) {
                     lines_.emplace_back(line);
                   }});
  }

  FakeClock clock_;
  std::vector<std::string> lines_;
};

TEST_F(LoggerTest, PrintsOneJsonObjectALine) {
  logger(LogFormat::kJson)
      .info("plan applied",
            {{"key", "default/a"}, {"writes", 3}, {"took", std::chrono::milliseconds(1500)}, {"dry", false}});
  EXPECT_THAT(lines_, ElementsAre(R"({"ts":"2026-01-01T00:00:00.000000Z","level":"info","severity":"INFO",)"
                                  R"("msg":"plan applied","key":"default/a","writes":3,"took":1.5,"dry":false})"));
}

TEST_F(LoggerTest, NamesTheSeverityForCloudLogging) {
  const Logger log = logger(LogFormat::kJson, LogLevel::kDebug);
  log.debug("a");
  log.warn("b", {{"severity", "mine"}});
  log.error("c");
  EXPECT_EQ(nlohmann::json::parse(lines_.at(0)).at("severity"), "DEBUG");
  EXPECT_EQ(nlohmann::json::parse(lines_.at(1)).at("severity"), "WARNING");
  EXPECT_EQ(nlohmann::json::parse(lines_.at(1)).at("field_severity"), "mine");
  EXPECT_EQ(nlohmann::json::parse(lines_.at(2)).at("severity"), "ERROR");
}

TEST_F(LoggerTest, PrintsTextWithQuotesIfNeeded) {
  logger(LogFormat::kText).warn("watch ended", {{"key", "default/a"}, {"reason", "too old"}, {"empty", ""}});
  EXPECT_THAT(lines_,
              ElementsAre(R"(2026-01-01T00:00:00.000000Z warn  watch ended key=default/a reason="too old" empty="")"));
}

TEST_F(LoggerTest, OmitsLinesBelowItsLevel) {
  const Logger log = logger(LogFormat::kText, LogLevel::kWarn);
  log.debug("no");
  log.info("no");
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_FALSE(log.enabled(LogLevel::kInfo));
  log.error("yes");
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(LoggerTest, ALevelThatIsSetAppliesToAllHandlesOfTheOutput) {
  const Logger log = logger(LogFormat::kText, LogLevel::kWarn);
  const Logger bound = log.with({{"controller", "jobset"}});
  log.set_level(LogLevel::kDebug);
  EXPECT_EQ(bound.level(), LogLevel::kDebug);
  bound.debug("yes");
  bound.set_level(LogLevel::kError);
  EXPECT_EQ(log.level(), LogLevel::kError);
  log.warn("no");
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(LoggerTest, FieldsOfALineOverrideBoundFields) {
  const Logger bound = logger(LogFormat::kJson).with({{"controller", "raycluster"}}).with({{"key", "a"}});
  bound.info("one", {{"key", "b"}});
  const auto json = nlohmann::json::parse(lines_.at(0));
  EXPECT_EQ(json.at("controller"), "raycluster");
  EXPECT_EQ(json.at("key"), "b");
  EXPECT_EQ(lines_.at(0).find("\"key\""), lines_.at(0).rfind("\"key\"")) << "printed once";
}

TEST_F(LoggerTest, EscapesLineBreaksInFields) {
  logger(LogFormat::kJson).info("bytes", {{"body", std::string("a\nb\xff\0c", 6)}, {"msg", "mine"}});
  logger(LogFormat::kText).info("bytes", {{"body", "a\nb"}});
  for (const std::string& line : lines_) EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  const auto json = nlohmann::json::parse(lines_.at(0));
  EXPECT_EQ(json.at("msg"), "bytes");
  EXPECT_EQ(json.at("field_msg"), "mine");
}

TEST_F(LoggerTest, SurvivesASinkThatThrows) {
  const Logger log({.sink = [](std::string_view) { throw std::runtime_error("disk full"); }});
  log.error("lost");
}

TEST(Logger, PrintsNothingWithoutOptions) {
  const Logger log;
  log.error("not printed");
  log.set_level(LogLevel::kDebug);
  EXPECT_EQ(log.level(), LogLevel::kError);
  EXPECT_FALSE(log.with({{"a", 1}}).enabled(LogLevel::kError));
}

TEST(LogOptions, ReadFromFlags) {
  EXPECT_EQ(parse_log_level("warn").value(), LogLevel::kWarn);
  EXPECT_EQ(parse_log_format("text").value(), LogFormat::kText);
  EXPECT_EQ(parse_log_level("loud").error().message(), "log level is \"loud\", must be debug, info, warn or error");
  EXPECT_EQ(parse_log_format("xml").error().message(), "log format is \"xml\", must be json or text");
}

}  // namespace
}  // namespace tpuslice
