#include "api/http/client/resolver.h"

#include <atomic>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/eventually.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::HasSubstr;
using tpuslice::testing::eventually;

Instant soon() { return RealClock().now() + kGenerous; }
Instant past() { return RealClock().now(); }

/// Lookups, of which that of "slow" waits for the gate.
class ResolverTest : public ::testing::Test {
 protected:
  ResolverTest() : slow_([this] { slow_result_ = resolver_.resolve("slow", 443, soon(), {}); }) {
    EXPECT_TRUE(entered_.wait());
  }
  /// Lookups use members of the test.
  ~ResolverTest() override { finish(); }

  Result<Addresses> look_up(const std::string& host) {
    ++lookups_;
    if (host == "slow") {
      entered_.open();
      release_.wait();
    }
    if (host == "unknown") return Error::unavailable("host unknown: not known");
    return Addresses(2);
  }
  void finish() {
    release_.open();
    if (slow_.joinable()) slow_.join();
  }

  Gate entered_;
  Gate release_;
  std::atomic<int> lookups_ = 0;
  Resolver resolver_{[this](const std::string& host, std::uint16_t /*port*/) { return look_up(host); }, 2};
  Result<Addresses> slow_result_ = Error::unavailable("not resolved yet");
  std::jthread slow_;
};

TEST_F(ResolverTest, CallersOfOneHostShareALookup) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(resolver_.resolve("slow", 443, past(), {}), IsError(ErrorCode::kTimeout, HasSubstr("slow")));
  }
  EXPECT_EQ(lookups_, 1);
  finish();
  ASSERT_TRUE(slow_result_.ok());
  EXPECT_EQ(slow_result_->size(), 2U);
}

TEST_F(ResolverTest, ALookupThatEndedIsNotReused) {
  EXPECT_TRUE(resolver_.resolve("fast", 443, soon(), {}).ok());
  EXPECT_TRUE(resolver_.resolve("fast", 443, soon(), {}).ok());
  EXPECT_EQ(lookups_, 3);
}

TEST_F(ResolverTest, ReportsTheErrorOfTheLookup) {
  EXPECT_THAT(resolver_.resolve("unknown", 443, soon(), {}), IsError(ErrorCode::kUnavailable, HasSubstr("not known")));
}

TEST_F(ResolverTest, LimitsTheLookupsThatRun) {
  const Resolver one([this](const std::string& host, std::uint16_t /*port*/) { return look_up(host); }, 1);
  Result<Addresses> slow = Error::unavailable("not resolved yet");
  std::jthread caller([&] { slow = one.resolve("slow", 80, soon(), {}); });
  ASSERT_TRUE(eventually([this] { return lookups_ == 2; }));
  EXPECT_THAT(one.resolve("fast", 80, past(), {}), IsError(ErrorCode::kTimeout, HasSubstr("fast")));
  EXPECT_EQ(lookups_, 2) << "it is not started while another one runs";
  release_.open();
  EXPECT_TRUE(one.resolve("fast", 80, soon(), {}).ok());
  caller.join();
  EXPECT_TRUE(slow.ok());
}

TEST_F(ResolverTest, ACallIsCancelledAtOnce) {
  std::stop_source stop;
  std::jthread canceller([&] { stop.request_stop(); });
  EXPECT_THAT(resolver_.resolve("slow", 443, soon(), stop.get_token()), IsError(ErrorCode::kCancelled));
}

TEST_F(ResolverTest, AddressesNeedNoLookup) {
  EXPECT_EQ(resolver_.resolve("127.0.0.1", 443, past(), {}).value().size(), 1U);
  EXPECT_EQ(lookups_, 1);
}

}  // namespace
}  // namespace tpuslice::http::testing
