// Watches that are silent: of a server that hangs, or of objects that do not change.
#include "controllers/runtime/watch/watch_liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/runtime/watch/watch_machine_fixture.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

class WatchLivenessTest : public WatchMachineTest {
 protected:
  /// Advances the clock in small steps, as a thread does.
  void pass(Duration time) {
    for (Duration passed = 0s; passed < time; passed += 5s) {
      clock_.advance(5s);
      settle();
    }
  }
  /// A watch that had a bookmark a moment ago.
  std::shared_ptr<Feed> with_bookmark() {
    auto feed = watching();
    feed->line(bookmark(11));
    settle();
    return feed;
  }
  double age() {
    const std::string text = metrics_.scrape();
    const std::string name = "tpuslice_watch_last_byte_age_seconds{label_selector=\"app=x\",resource=\"pods\"} ";
    const auto at = text.find(name);
    return at == text.npos ? -1 : std::stod(text.substr(at + name.size()));
  }
};

/// Regression: a watch of a server that hangs was open for its timeout and 30 s, up to ten minutes.
TEST_F(WatchLivenessTest, OpensAWatchAgainAfterThreeMinutesWithoutABookmark) {
  auto feed = with_bookmark();
  pass(175s);
  EXPECT_FALSE(feed->closed());
  reader_.expect_stream();
  pass(10s);
  EXPECT_TRUE(feed->closed());
  ASSERT_THAT(reader_.watches, SizeIs(2));
  EXPECT_EQ(reader_.watches[1].resource_version, "11") << "no relist";
  EXPECT_EQ(lines("watch silent; opening it again"), 1);
}

TEST_F(WatchLivenessTest, KeepsAWatchThatReceivesBookmarksOnly) {
  auto feed = with_bookmark();
  for (int i = 12; i < 16; ++i) {
    pass(60s);
    feed->line(bookmark(i));
    settle();
  }
  EXPECT_FALSE(feed->closed());
}

TEST_F(WatchLivenessTest, APartOfAnEventCounts) {
  auto feed = with_bookmark();
  for (int i = 0; i < 4; ++i) {
    pass(60s);
    feed->put("{\"type\":");
    settle();
  }
  EXPECT_FALSE(feed->closed());
}

TEST_F(WatchLivenessTest, ReadsWhatArrivedWhileTheProcessWasPaused) {
  auto feed = with_bookmark();
  clock_.advance(4min);
  feed->line(event("ADDED", pod_json("b", 12)));
  settle();
  EXPECT_FALSE(feed->closed());
  EXPECT_NE(store_.get({"default", "b"}), nullptr);
}

TEST_F(WatchLivenessTest, AServerThatSendsNoBookmarksIsNotDead) {
  auto feed = watching();
  pass(280s);
  EXPECT_FALSE(feed->closed());
}

TEST_F(WatchLivenessTest, TheBookmarkThatEndsAStreamedListIsNoSignOfLater) {
  make({});
  auto feed = reader_.expect_stream();
  feed->line(bookmark(10, true));
  settle();
  ASSERT_TRUE(machine_->synced());
  pass(280s);
  EXPECT_FALSE(feed->closed());
}

TEST_F(WatchLivenessTest, BookmarksOfAnEarlierStreamAreExpectedOfTheNextOneOnce) {
  auto first = with_bookmark();
  first->end();
  auto second = reader_.expect_stream();
  settle();
  auto third = reader_.expect_stream();
  pass(185s);
  EXPECT_TRUE(second->closed());
  pass(280s);
  EXPECT_FALSE(third->closed()) << "the server may have been replaced by one that sends none";
}

TEST_F(WatchLivenessTest, SilentWatchesAreOpenedAgainSoonerOnceAnotherOneIsDead) {
  auto feed = watching();
  pass(60s);
  dead_streams_.found(clock_.now());
  pass(25s);
  EXPECT_FALSE(feed->closed());
  auto next = reader_.expect_stream();
  pass(10s);
  EXPECT_TRUE(feed->closed());
  pass(280s);
  EXPECT_FALSE(next->closed()) << "once";
}

TEST_F(WatchLivenessTest, ExportsTheAgeOfTheLastByte) {
  auto feed = watching();
  pass(60s);
  EXPECT_EQ(age(), 60);
  feed->put("{");
  settle();
  clock_.advance(7s);
  EXPECT_EQ(age(), 7);
}

TEST(StreamLiveness, OnlyTheFirstOfSeveralIsReported) {
  FakeClock clock;
  DeadStreams dead;
  StreamLiveness first({}, &dead, clock.now());
  StreamLiveness second({}, &dead, clock.now());
  first.bookmark();
  EXPECT_EQ(second.dead_at(), kNever);
  clock.advance(3min);
  const Instant found = clock.now();
  EXPECT_EQ(first.dead_at(), found);
  first.found_dead(found);
  EXPECT_LE(second.dead_at(), found);
  clock.advance(1min);
  second.found_dead(clock.now());
  EXPECT_FALSE(dead.found_since(found));
}

}  // namespace
}  // namespace tpuslice::runtime
