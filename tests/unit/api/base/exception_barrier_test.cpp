#include "api/base/exception_barrier.h"

#include <stdexcept>
#include <stop_token>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ExceptionBarrierTest : public ::testing::Test {
 protected:
  Logger logger() {
    LogOptions options;
    options.clock = &clock_;
    options.format = LogFormat::kText;
    options.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    return Logger(options);
  }
  double count() { return metrics_.counter("tpuslice_exceptions_total", "", {{"where", "test"}}).value(); }

  FakeClock clock_;
  Metrics metrics_;
  std::vector<std::string> lines_;
  const ExceptionBarrier barrier_{"test", metrics_, clock_, logger()};
};

TEST_F(ExceptionBarrierTest, ReturnsWhatTheWorkReturns) {
  EXPECT_TRUE(barrier_.run([] {}).ok());
  EXPECT_EQ(*barrier_.run([] { return 3; }), 3);
  EXPECT_EQ(*barrier_.run([]() -> Result<int> { return 4; }), 4);
  EXPECT_THAT(barrier_.run([]() -> Status { return Error::not_found("x"); }), IsError(ErrorCode::kNotFound));
  EXPECT_EQ(count(), 0);
}

TEST_F(ExceptionBarrierTest, MakesAnErrorOfAnException) {
  EXPECT_THAT(barrier_.run([]() -> int { throw std::runtime_error("bad decode"); }),
              IsError(ErrorCode::kDefect, HasSubstr("bad decode")));
  EXPECT_THAT(barrier_.run([] { throw 1; }), IsError(ErrorCode::kDefect)) << "not a std::exception";
  EXPECT_EQ(count(), 2);
}

TEST_F(ExceptionBarrierTest, LogsAtMostOneExceptionAMinute) {
  const auto fail = [&] { (void)barrier_.run([] { throw std::runtime_error("bad"); }); };
  for (int i = 0; i < 1000; ++i) fail();
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("exception")));
  clock_.advance(1min);
  fail();
  EXPECT_THAT(lines_, SizeIs(2));
  EXPECT_EQ(count(), 1001);
}

TEST_F(ExceptionBarrierTest, CallsTheWorkOfAThreadAgain) {
  std::stop_source stop;
  int calls = 0;
  barrier_.keep_running(stop.get_token(), [&] {
    if (++calls == 1) throw std::runtime_error("once");
  });
  EXPECT_EQ(calls, 2) << "until it returns";
  barrier_.keep_running(stop.get_token(), [&] {
    ++calls;
    stop.request_stop();
    throw std::runtime_error("while it is stopped");
  });
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace tpuslice
