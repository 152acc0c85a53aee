#include "cmd/kubectl-tpu/logged_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Answers calls with this.
class Answering final : public http::Transport {
 public:
  explicit Answering(Result<http::Response> answer) : answer_(std::move(answer)) {}
  Result<http::Response> call(const http::Request&, Duration, std::stop_token) override { return answer_; }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::unavailable("no streams");
  }

 private:
  const Result<http::Response> answer_;
};

TEST(LoggedTransport, LogsRequestsWithoutTheirHeadersAndBodies) {
  const FakeClock clock;
  std::vector<std::string> lines;
  const Logger log(
      {.level = LogLevel::kDebug, .format = LogFormat::kText, .clock = &clock, .sink = [&lines](std::string_view line) {
         lines.emplace_back(line);
       }});
  http::Request request{.method = "POST", .target = "/api/v1/pods?limit=5"};
  request.headers = {{"X-Secret", "hidden"}};
  request.body = "hidden";
  LoggedTransport answered(std::make_unique<Answering>(http::Response{.status = 201, .headers = {}, .body = "hidden"}),
                           clock, log);
  EXPECT_EQ(answered.call(request, std::chrono::seconds(1), {}).value().status, 201);
  LoggedTransport failing(std::make_unique<Answering>(Error::unavailable("no connection")), clock, log);
  EXPECT_FALSE(failing.call(request, std::chrono::seconds(1), {}).ok());
  EXPECT_FALSE(failing.open(request, std::chrono::seconds(1), {}).ok());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], ::testing::AllOf(HasSubstr("POST"), HasSubstr("/api/v1/pods?limit=5"), HasSubstr("201")));
  EXPECT_THAT(lines[1], HasSubstr("no connection"));
  EXPECT_THAT(lines[2], HasSubstr("no streams"));
  for (const std::string& line : lines) EXPECT_THAT(line, ::testing::Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace tpuslice::plugin
