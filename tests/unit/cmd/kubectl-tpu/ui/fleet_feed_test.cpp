#include "cmd/kubectl-tpu/ui/fleet_feed.h"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::plugin {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Json fleet_at(int second) { return {{"time", second}, {"pools", Json::array()}, {"slices", Json::array()}}; }

constexpr Duration kInterval = std::chrono::seconds(1);

class FleetFeedTest : public ::testing::Test {
 protected:
  std::shared_ptr<FleetFeed> feed() {
    return std::make_shared<FleetFeed>(
        [this]() -> Result<Json> {
          ++reads_;
          return next_;
        },
        kInterval, clock_);
  }

  FakeClock clock_;
  std::atomic<int> reads_{0};
  Result<Json> next_ = fleet_at(0);
};

TEST_F(FleetFeedTest, ReadsOnceInAnInterval) {
  const auto shared = feed();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*shared->latest()->fleet, fleet_at(0));
  EXPECT_EQ(reads_, 1);
  clock_.advance(kInterval);
  next_ = fleet_at(1);
  EXPECT_EQ(*shared->latest()->fleet, fleet_at(1));
  EXPECT_EQ(reads_, 2);
}

TEST_F(FleetFeedTest, ReadsASlowClusterForATenthOfTheTime) {
  FleetFeed slow(
      [this]() -> Result<Json> {
        ++reads_;
        clock_.advance(2 * kInterval);
        return next_;
      },
      kInterval, clock_);
  EXPECT_TRUE(slow.latest().has_value());
  clock_.advance(17 * kInterval);
  EXPECT_TRUE(slow.latest().has_value());
  EXPECT_EQ(reads_, 1);
  clock_.advance(kInterval);
  EXPECT_TRUE(slow.latest().has_value());
  EXPECT_EQ(reads_, 2);
}

TEST_F(FleetFeedTest, KeepsTheLastFleetWhileNoneCanBeRead) {
  const auto shared = feed();
  EXPECT_EQ(shared->latest()->problem, "");
  clock_.advance(kInterval);
  next_ = Error::unavailable("no route");
  EXPECT_EQ(*shared->latest()->fleet, fleet_at(0));
  EXPECT_EQ(shared->latest()->problem, "no route");
}

TEST(FleetFeed, IsReadByOneThreadAtATime) {
  const FakeClock clock;  // No reading takes time, so the next one is due at once.
  std::atomic<int> now{0};
  std::atomic<int> reads{0};
  FleetFeed feed(
      [&]() -> Result<Json> {
        EXPECT_EQ(++now, 1);
        ++reads;
        std::this_thread::yield();
        --now;
        return fleet_at(0);
      },
      Duration::zero(), clock);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&feed] {
      for (int j = 0; j < 100; ++j) EXPECT_TRUE(feed.latest().has_value());
    });
  }
  threads.clear();
  EXPECT_GT(reads, 100);
}

TEST(FleetFeed, DoesNotWaitForASlowReaderAfterStop) {
  const RealClock clock;
  std::promise<void> entered;
  std::promise<void> release;
  FleetFeed feed(
      [&]() -> Result<Json> {
        entered.set_value();
        release.get_future().wait();
        return fleet_at(0);
      },
      kInterval, clock);
  std::jthread slow([&feed] { EXPECT_TRUE(feed.latest().has_value()); });
  entered.get_future().wait();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(feed.latest(stop.get_token()).has_value());
  release.set_value();
}

TEST_F(FleetFeedTest, StreamsTheFleetAndThenWhatChanged) {
  FleetStream stream(feed());
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(), server_sent_event("fleet", fleet_at(0)));
  next_ = fleet_at(1);
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(), "") << "the interval is not over";
  clock_.advance(kInterval);
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(), "event: diff\ndata: {\"time\":1}\n\n");
  clock_.advance(kInterval);
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(), "") << "nothing changed";
}

TEST_F(FleetFeedTest, StreamsAProblemOnceAndItsEnd) {
  FleetStream stream(feed());
  EXPECT_THAT(stream.read(Duration::zero(), {}).value(), StartsWith("event: fleet"));
  next_ = Error::unavailable("no route\nto host");
  clock_.advance(kInterval);
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(),
            "event: problem\ndata: {\"message\":\"no route\\nto host\"}\n\n");
  clock_.advance(kInterval);
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(), "");
  next_ = fleet_at(3);
  clock_.advance(kInterval);
  EXPECT_EQ(stream.read(Duration::zero(), {}).value(),
            "event: diff\ndata: {\"time\":3}\n\nevent: problem\ndata: {\"message\":\"\"}\n\n");
}

TEST_F(FleetFeedTest, StreamsShareAReading) {
  const auto shared = feed();
  FleetStream first(shared);
  FleetStream second(shared);
  std::vector<std::string> events = {first.read(Duration::zero(), {}).value(),
                                     second.read(Duration::zero(), {}).value()};
  EXPECT_THAT(events, Each(HasSubstr("event: fleet")));
  EXPECT_EQ(reads_, 1);
}

TEST_F(FleetFeedTest, AStreamEndsWhenItIsStopped) {
  FleetStream stream(feed());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(stream.read(Duration::zero(), stop.get_token()), IsError(ErrorCode::kCancelled));
}

}  // namespace
}  // namespace tpuslice::plugin
