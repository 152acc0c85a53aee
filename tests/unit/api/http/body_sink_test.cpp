// BodySink: a failed write does not need a free thread of cpprestsdk.
#include "api/http/client/body_sink.h"
// body_sink.h comes first: it decides how cpprestsdk is compiled.
#include <future>
#include <latch>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/check.h"
#include "api/http/client/io_threads.h"

namespace tpuslice::http {
namespace {

constexpr int kWrites = 8;  ///< At least as many as cpprestsdk has threads here.
constexpr auto kLimit = std::chrono::seconds(20);

/// Regression: two streams that were cancelled while bytes arrived blocked both threads for ever, and with them all
/// watches.
TEST(BodySink, FailsAWriteOnAllThreadsAtATime) {
  const auto threads = start_io();
  std::latch begin(2);
  std::vector<std::future<bool>> failed;
  for (int i = 0; i < kWrites; ++i) {
    const auto write = std::make_shared<std::packaged_task<bool()>>([&begin, i] {
      // The first two start together, each on a thread of its own.
      if (i < 2) begin.arrive_and_wait();
      const auto exchange = std::make_shared<Exchange>(1);
      exchange->cancel();
      const auto sink = std::make_shared<BodySink>(exchange);
      const std::uint8_t byte = 0;
      try {
        static_cast<void>(sink->putn_nocopy(&byte, 1).get());
      } catch (const std::runtime_error&) {
        return !sink->can_write();
      }
      return false;
    });
    failed.push_back(write->get_future());
    crossplat::threadpool::shared_instance().service().post([write] { (*write)(); });
  }
  for (auto& each : failed) {
    // A blocked thread could not be joined.
    TPUSLICE_CHECK_MSG(each.wait_for(kLimit) == std::future_status::ready, "the write has blocked its thread");
    EXPECT_TRUE(each.get());
  }
}

}  // namespace
}  // namespace tpuslice::http
