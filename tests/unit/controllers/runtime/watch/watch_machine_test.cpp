#include "controllers/runtime/watch/watch_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/runtime/watch/watch_machine_fixture.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(WatchMachineTest, BacksOffFromTheEndOfARequestThatFailed) {
  WatchMachineOptions options;
  options.watch_list = false;
  make(options);
  Error throttled = Error::of(ErrorCode::kTooManyRequests, "too many requests");
  throttled.with_retry_after(5s);
  reader_.during_request = [this] { clock_.advance(15s); };
  reader_.pages.emplace_back(throttled);
  const Instant listed = machine_->step(clock_.now(), Duration::zero(), {});
  EXPECT_GE(listed - clock_.now(), 5s);
  clock_.advance(listed - clock_.now());
  reader_.during_request = nullptr;
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
  machine_->step(clock_.now(), Duration::zero(), {});
  reader_.during_request = [this] { clock_.advance(15s); };
  reader_.streams.emplace_back(throttled);
  const Instant opened = machine_->step(clock_.now(), Duration::zero(), {});
  EXPECT_GE(opened - clock_.now(), 5s);
}

TEST_F(WatchMachineTest, ListsInPagesFromTheNewestStateAndWatchesFromThere) {
  make_listing();
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10, "more"));
  reader_.pages.emplace_back(page({pod_json("b", 6)}, 10));
  reader_.expect_stream();
  settle();
  ASSERT_THAT(reader_.lists, SizeIs(2));
  EXPECT_EQ(reader_.lists[0].resource_version, "");
  EXPECT_EQ(reader_.lists[0].limit, 500);
  EXPECT_EQ(reader_.lists[0].label_selector, "app=x");
  EXPECT_EQ(reader_.lists[1].continue_token, "more");
  EXPECT_EQ(reader_.lists[1].resource_version, "");
  ASSERT_THAT(reader_.watches, SizeIs(1));
  EXPECT_EQ(reader_.watches[0].resource_version, "10");
  EXPECT_TRUE(reader_.watches[0].allow_bookmarks);
  EXPECT_GE(reader_.watches[0].timeout_seconds, 300);
  EXPECT_LE(reader_.watches[0].timeout_seconds, 600);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_EQ(store_.revision({}), 10U);
}

TEST_F(WatchMachineTest, AsksForTheFieldsThatTheViewReads) {
  watching();
  EXPECT_TRUE(reader_.lists.at(0).for_view);
  EXPECT_TRUE(reader_.watches.at(0).for_view);
  Store<JobView> jobs{kJobs};
  EXPECT_FALSE(StoreSink<JobView>(jobs, annotations_).for_view());
}

TEST_F(WatchMachineTest, SwapsTheStoreOnlyAfterTheLastPage) {
  make_listing();
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10, "more"));
  reader_.pages.emplace_back(page({pod_json("b", 6)}, 10));
  machine_->step(clock_.now(), Duration::zero(), {});
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_FALSE(machine_->synced());
  machine_->step(clock_.now(), Duration::zero(), {});
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(WatchMachineTest, ListsWithLargerPagesWhenAContinueTokenExpired) {
  make_listing();
  reader_.pages.emplace_back(page({pod_json("old", 5)}, 10, "more"));
  reader_.pages.emplace_back(Error::of(ErrorCode::kExpired, "token too old"));
  reader_.pages.emplace_back(page({pod_json("a", 15)}, 20));
  reader_.expect_stream();
  settle();
  ASSERT_THAT(reader_.lists, SizeIs(3));
  EXPECT_EQ(reader_.lists[2].limit, 2000);
  EXPECT_EQ(reader_.lists[2].continue_token, "");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(WatchMachineTest, SaysForHowLongItIsBroken) {
  auto feed = watching();
  EXPECT_EQ(machine_->broken_for(clock_.now()), Duration::zero());
  feed->end();
  for (int i = 0; i < 9; ++i) reader_.streams.emplace_back(Error::of(ErrorCode::kForbidden, "no permission"));
  for (int i = 0; i < 100; ++i) {
    settle();
    clock_.advance(std::chrono::seconds(1));
  }
  EXPECT_GT(machine_->broken_for(clock_.now()), std::chrono::seconds(90));
  EXPECT_EQ(watch_metrics(metrics_, {"pods", "app=x", ""}).connected.value(), 0);
  auto next = reader_.expect_stream();
  for (int i = 0; i < 400; ++i) {
    settle();
    clock_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(machine_->broken_for(clock_.now()), Duration::zero()) << "open for a while, without an event";
  EXPECT_EQ(watch_metrics(metrics_, {"pods", "app=x", ""}).connected.value(), 1);
}

TEST_F(WatchMachineTest, FollowsChangesAndBookmarks) {
  auto feed = watching();
  feed->line(event("ADDED", pod_json("b", 11)));
  feed->line(event("MODIFIED", pod_json("a", 12)));
  feed->line(event("DELETED", pod_json("b", 13)));
  feed->line(bookmark(40));
  settle();
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(store_.get({"default", "a"})->resource_version, "12");
  EXPECT_EQ(store_.revision({}), 40U);
}

TEST_F(WatchMachineTest, ResumesAnEndedWatchWithoutListing) {
  auto feed = watching();
  feed->line(bookmark(40));
  feed->end();
  reader_.expect_stream();
  settle();
  EXPECT_THAT(reader_.lists, SizeIs(1));
  ASSERT_THAT(reader_.watches, SizeIs(2));
  EXPECT_EQ(reader_.watches[1].resource_version, "40");
}

TEST_F(WatchMachineTest, BacksOffWhenAWatchEndsWithoutEvents) {
  auto feed = watching();
  feed->end();
  const Instant due = settle();
  EXPECT_THAT(reader_.watches, SizeIs(1));
  EXPECT_GE(due - clock_.now(), 800ms);
  EXPECT_LE(due - clock_.now(), 1600ms);
  reader_.expect_stream();
  clock_.advance(due - clock_.now());
  settle();
  ASSERT_THAT(reader_.watches, SizeIs(2));
  EXPECT_EQ(reader_.watches[1].resource_version, "10");
  EXPECT_THAT(reader_.lists, SizeIs(1));
}

TEST_F(WatchMachineTest, RelistsWhenTheStreamReturnsExpired) {
  auto feed = watching();
  clock_.advance(1min);
  feed->line(expired_event());
  reader_.pages.emplace_back(page({pod_json("b", 50)}, 60));
  reader_.expect_stream();
  settle();
  ASSERT_THAT(reader_.lists, SizeIs(2));
  EXPECT_EQ(reader_.lists[1].resource_version, "");
  EXPECT_EQ(reader_.watches.back().resource_version, "60");
  EXPECT_THAT(names(), ElementsAre("b"));
  EXPECT_EQ(expired_metric(), 1);
}

TEST_F(WatchMachineTest, RelistsWhenOpeningReturnsExpired) {
  auto feed = watching();
  clock_.advance(1min);
  feed->end();
  reader_.streams.emplace_back(Error::of(ErrorCode::kExpired, "too old"));
  reader_.pages.emplace_back(page({}, 60));
  reader_.expect_stream();
  settle();
  EXPECT_THAT(reader_.lists, SizeIs(2));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(expired_metric(), 1);
}

TEST_F(WatchMachineTest, BacksOffWhenEveryWatchExpires) {
  make_listing();
  for (int i = 0; i < 100; ++i) {
    reader_.pages.emplace_back(page({}, 60));
    reader_.streams.emplace_back(Error::of(ErrorCode::kExpired, "too old"));
  }
  for (int i = 0; i < 20; ++i) clock_.advance(settle() - clock_.now());
  EXPECT_LT(reader_.lists.size(), 45U);
}

TEST_F(WatchMachineTest, RelistsWhenTheResourceVersionIsTooLarge) {
  auto feed = watching();
  clock_.advance(1min);
  feed->end();
  reader_.streams.emplace_back(
      Error::of(ErrorCode::kTimeout, "too large resource version").with_reason("ResourceVersionTooLarge"));
  reader_.pages.emplace_back(page({}, 8));
  reader_.expect_stream();
  settle();
  ASSERT_THAT(reader_.lists, SizeIs(2));
  EXPECT_EQ(reader_.lists[1].resource_version, "");
  EXPECT_EQ(reader_.watches.back().resource_version, "8");
}

TEST_F(WatchMachineTest, KeepsItsResourceVersionAndHonoursRetryAfter) {
  auto feed = watching();
  clock_.advance(1min);
  feed->end();
  reader_.streams.emplace_back(Error::of(ErrorCode::kTooManyRequests, "slow down").with_retry_after(20s));
  EXPECT_EQ(settle() - clock_.now(), 20s);
  clock_.advance(20s);
  reader_.expect_stream();
  settle();
  EXPECT_THAT(reader_.lists, SizeIs(1));
  EXPECT_EQ(reader_.watches.back().resource_version, "10");
}

TEST_F(WatchMachineTest, BackOffIsCappedAndResetAfterATimeWithoutFailures) {
  make_listing();
  Duration wait = 0s;
  for (int i = 0; i < 10; ++i) {
    wait = settle() - clock_.now();
    EXPECT_LE(wait, 60s);
    clock_.advance(wait);
  }
  EXPECT_GE(wait, 30s);
  settle();
  clock_.advance(wait + 3min);
  EXPECT_LE(settle() - clock_.now(), 1600ms);
}

TEST_F(WatchMachineTest, ClosesAStreamThatOutlivesItsTimeout) {
  auto feed = watching();
  const Duration time = std::chrono::seconds(reader_.watches[0].timeout_seconds);
  clock_.advance(time + 29s);
  settle();
  EXPECT_FALSE(feed->closed());
  reader_.expect_stream();
  clock_.advance(1s);
  settle();
  EXPECT_TRUE(feed->closed());
  EXPECT_THAT(reader_.watches, SizeIs(2));
  EXPECT_THAT(reader_.lists, SizeIs(1));
}

TEST_F(WatchMachineTest, QuarantinesAnObjectThatCannotBeDecodedAndHandlesTheOthers) {
  auto feed = watching();
  Json broken = pod_json("a", 11);
  broken["metadata"].erase("uid");
  feed->line(event("MODIFIED", broken));
  feed->line(event("ADDED", pod_json("b", 12)));
  settle();
  EXPECT_THAT(quarantined_, ElementsAre("default/a"));
  EXPECT_EQ(quarantined_metric(), 1);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  feed->end();
  reader_.expect_stream();
  settle();
  EXPECT_EQ(reader_.watches.back().resource_version, "12");
}

TEST_F(WatchMachineTest, KeepsTheLastVersionOfAnObjectThatCannotBeDecodedInAList) {
  auto feed = watching();
  clock_.advance(1min);
  feed->line(expired_event());
  Json broken = pod_json("a", 50);
  broken["metadata"].erase("uid");
  reader_.pages.emplace_back(page({broken, pod_json("b", 50)}, 60));
  reader_.expect_stream();
  settle();
  EXPECT_THAT(quarantined_, ElementsAre("default/a"));
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_EQ(store_.get({"default", "a"})->resource_version, "5");
}

TEST_F(WatchMachineTest, WaitsForAResourceThatIsNotInstalled) {
  make_listing();
  for (int i = 0; i < 5; ++i) {
    reader_.pages.emplace_back(Error::not_found("the server could not find the requested resource"));
    clock_.advance(settle() - clock_.now());
    EXPECT_TRUE(machine_->absent());
    EXPECT_TRUE(store_.absent());
    EXPECT_FALSE(machine_->synced());
  }
  EXPECT_EQ(lines(" info  CRD is not installed"), 1) << "the others are at level debug";
  EXPECT_EQ(lines(" warn "), 0);
  reader_.pages.emplace_back(page({}, 9));
  reader_.expect_stream();
  settle();
  EXPECT_FALSE(machine_->absent());
  EXPECT_FALSE(store_.absent());
  EXPECT_TRUE(machine_->synced());
}

TEST_F(WatchMachineTest, BacksOffAfterAMalformedEvent) {
  auto feed = watching();
  feed->line(std::string("not JSON"));
  EXPECT_GE(settle() - clock_.now(), 800ms);
  EXPECT_THAT(reader_.lists, SizeIs(1));
}

TEST_F(WatchMachineTest, StreamsTheFirstListIfTheServerSupportsIt) {
  make({});
  auto feed = reader_.expect_stream();
  feed->line(event("ADDED", pod_json("b", 90)));
  feed->line(event("ADDED", pod_json("a", 5)));
  settle();
  EXPECT_TRUE(reader_.watches[0].send_initial_events);
  EXPECT_EQ(reader_.watches[0].resource_version, "");
  EXPECT_FALSE(machine_->synced());
  EXPECT_THAT(names(), IsEmpty());
  feed->line(bookmark(95, true));
  feed->line(event("DELETED", pod_json("a", 96)));
  settle();
  EXPECT_TRUE(machine_->synced());
  EXPECT_THAT(names(), ElementsAre("b"));
  EXPECT_EQ(store_.revision({}), 96U);
  EXPECT_THAT(reader_.lists, IsEmpty());
  EXPECT_THAT(reader_.watches, SizeIs(1)) << "the stream continues as the watch";
}

TEST_F(WatchMachineTest, FallsBackToListWhenStreamingIsRefused) {
  for (const ErrorCode code : {ErrorCode::kInvalid, ErrorCode::kInvalidArgument, ErrorCode::kExpired}) {
    reader_.streams.clear();
    reader_.lists.clear();
    make({});
    reader_.streams.emplace_back(Error::of(code, "sendInitialEvents is forbidden"));
    reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
    auto feed = reader_.expect_stream();
    settle();
    EXPECT_TRUE(machine_->synced());
    clock_.advance(1min);
    feed->line(expired_event());
    reader_.pages.emplace_back(page({}, 20));
    reader_.expect_stream();
    settle();
    EXPECT_THAT(reader_.lists, SizeIs(2));
    EXPECT_FALSE(reader_.watches.back().send_initial_events);
  }
}

TEST_F(WatchMachineTest, DiscardsAStreamedListThatEndsEarly) {
  make({});
  auto feed = reader_.expect_stream();
  feed->line(event("ADDED", pod_json("discarded", 5)));
  feed->end();
  const Instant due = settle();
  EXPECT_FALSE(machine_->synced());
  feed = reader_.expect_stream();
  feed->line(event("ADDED", pod_json("a", 6)));
  feed->line(bookmark(10, true));
  clock_.advance(due - clock_.now());
  settle();
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(WatchMachineTest, ListsWhenStreamedListsBreakOff) {
  make({});
  for (int i = 0; i < 3; ++i) {
    auto feed = reader_.expect_stream();
    feed->line(event("ADDED", pod_json("discarded", 5)));
    feed->end();
    if (i == 2) {
      reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
      reader_.expect_stream();
    }
    const Instant due = settle();
    if (i < 2) {
      EXPECT_FALSE(machine_->synced());
      clock_.advance(due - clock_.now());
      EXPECT_GT(machine_->broken_for(clock_.now()), 0s) << "what was read is no progress";
    }
  }
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(WatchMachineTest, ListsWhenAStreamedListTimesOut) {
  make({});
  auto feed = reader_.expect_stream();
  EXPECT_EQ(settle() - clock_.now(), 60s);
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
  reader_.expect_stream();
  clock_.advance(60s);
  settle();
  EXPECT_TRUE(feed->closed());
  EXPECT_TRUE(machine_->synced());
}

TEST_F(WatchMachineTest, RelistsWhenThereIsRoomForARefusedObject) {
  const auto object = [](const std::string& name, int version) {
    Json out = pod_json(name, version);
    out["data"] = std::string(50'000, 'x');
    return out;
  };
  MemoryBudget budget(100'000);
  ObjectStore store{kPods};
  WatchMachineOptions options;
  options.watch_list = false;
  WatchMachine machine(kPods, {.label_selector = "app=x"},
                       std::make_unique<StoreSink<ObjectView>>(store, annotations_, &budget), options,
                       {reader_, clock_, random_, metrics_, Logger()});
  const auto settle_at = [&](Duration later) {
    clock_.advance(later);
    for (int i = 0; i < 10; ++i) (void)machine.step(clock_.now(), Duration::zero(), {});
  };
  reader_.pages.emplace_back(page({object("a", 1), object("b", 2)}, 10));
  const auto feed = reader_.expect_stream();
  settle_at(0s);
  EXPECT_TRUE(store.get({"default", "b"})->minimal);
  EXPECT_EQ(quarantined_metric(), 1);
  feed->line(event("DELETED", object("a", 11)));
  settle_at(30s);
  EXPECT_EQ(store.size(), 1U);
  EXPECT_THAT(reader_.lists, SizeIs(1)) << "not more often than once a minute";
  reader_.pages.emplace_back(page({object("b", 2)}, 12));
  reader_.expect_stream();
  settle_at(30s);
  EXPECT_THAT(reader_.lists, SizeIs(2));
  EXPECT_FALSE(store.get({"default", "b"})->minimal);
}

}  // namespace
}  // namespace tpuslice::runtime
