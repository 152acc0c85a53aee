#include "api/client/clock_skew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/client/metered_transport.h"

namespace tpuslice::client {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// Answers after two seconds, with this Date.
class DatedTransport final : public http::Transport {
 public:
  DatedTransport(FakeClock& clock, std::string date) : clock_(clock), date_(std::move(date)) {}
  Result<http::Response> call(const http::Request&, Duration, std::stop_token) override {
    clock_.advance(2s);
    return http::Response{200, {{"date", date_}}, "{}"};
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::internal("not opened");
  }

 private:
  FakeClock& clock_;
  const std::string date_;
};

class ClockSkewTest : public ::testing::Test {
 protected:
  double skew_at(const std::string& date) {
    DatedTransport server(clock_, date);
    MeteredTransport transport(server, metrics_, clock_, "host", log_);
    EXPECT_TRUE(transport.call({}, 5s, {}).ok());
    return metrics_.gauge("tpuslice_clock_skew_seconds", "").value();
  }

  FakeClock clock_;
  Metrics metrics_;
  std::vector<std::string> lines_;
  const Logger log_{{.format = LogFormat::kText, .sink = [this](std::string_view line) { lines_.emplace_back(line); }}};
};

TEST_F(ClockSkewTest, ADateBetweenRequestAndAnswerIsNoSkew) {
  EXPECT_EQ(skew_at("Thu, 01 Jan 2026 00:00:01 GMT"), 0);
  clock_.advance(500ms);
  EXPECT_EQ(skew_at("Thu, 01 Jan 2026 00:00:02 GMT"), 0) << "the fraction of the second is not sent";
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ClockSkewTest, IsPositiveIfThisClockIsAhead) {
  EXPECT_EQ(skew_at("Wed, 31 Dec 2025 22:00:00 GMT"), 7199);
  EXPECT_THAT(lines_, ElementsAre(EndsWith("clock differs from the API server's ahead=7199.0")));
}

TEST_F(ClockSkewTest, IsNegativeIfThisClockIsBehind) {
  EXPECT_EQ(skew_at("Thu, 01 Jan 2026 00:00:32 GMT"), -30);
  EXPECT_THAT(lines_, IsEmpty()) << "less than a minute";
}

TEST_F(ClockSkewTest, IsLoggedOnceAnHour) {
  ClockSkew skew(metrics_, clock_, log_);
  const http::Headers answer = {{"Date", "Thu, 01 Jan 2026 12:00:00 GMT"}};
  for (int minutes = 0; minutes < 120; ++minutes) {
    skew.compare(answer, clock_.wall());
    clock_.advance(1min);
  }
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(ClockSkewTest, OtherTextsAreNoDate) {
  for (const char* date : {"", "now", "Thu, 01 Jan 2036 00:00:00", "Thu, 01 Jan 2036 00:00:00 GMT+1"}) {
    EXPECT_EQ(skew_at(date), 0) << date;
  }
}

}  // namespace
}  // namespace tpuslice::client
