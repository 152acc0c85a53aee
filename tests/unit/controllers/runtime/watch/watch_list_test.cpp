// Lists of the watch machine: objects that are too long or throw, types that are no longer served, streamed lists.
#include <algorithm>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_api.h"
#include "tests/support/paged_reader.h"
#include "tests/unit/controllers/runtime/watch/watch_machine_fixture.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tpuslice::testing::FakeApi;
using tpuslice::testing::PagedReader;

class WatchListTest : public WatchMachineTest {
 protected:
  static Error too_long() { return Error::of(ErrorCode::kResponseTooLong, "the response is longer than 8 bytes"); }
};

/// Pods p00 to p59, and a reader whose pages have at most 20 KB.
class WatchListOfLongObjects : public WatchListTest {
 protected:
  WatchListOfLongObjects() {
    for (int i = 0; i < 60; ++i) put(fmt::format("p{:02}", i), 100);
  }
  void put(const std::string& name, std::size_t bytes) {
    Json pod = pod_json(name, 1);
    pod["metadata"].erase("resourceVersion");
    pod["spec"]["nodeName"] = std::string(bytes, '<');
    api_.put(kPods, Object(std::move(pod)));
  }
  void make_paged() {
    WatchMachineOptions options;
    options.watch_list = false;
    options.page = 16;
    make(options, paged_);
  }

  FakeApi api_;
  PagedReader paged_{api_, 20'000};
};

/// Regression: such a page was asked for again for ever, from the first one, and the store was never synced.
TEST_F(WatchListOfLongObjects, ReadsOnlyTheMetadataOfAnObjectThatIsTooLongAlone) {
  put("p20", 100'000);
  make_paged();
  settle();
  EXPECT_TRUE(machine_->synced());
  EXPECT_THAT(names(), SizeIs(60));
  EXPECT_TRUE(store_.get({"default", "p20"})->minimal);
  EXPECT_FALSE(store_.get({"default", "p21"})->minimal);
  EXPECT_THAT(quarantined_, ElementsAre("default/p20"));
  EXPECT_EQ(lines("as JSON it alone is longer than the operator reads"), 1);
}

TEST_F(WatchListOfLongObjects, ReadsLargerPagesAfterwards) {
  put("p20", 100'000);
  make_paged();
  settle();
  int of_one = 0;
  for (const client::ListOptions& list : paged_.lists) of_one += list.limit == 1 ? 1 : 0;
  EXPECT_LE(of_one, 3);
  EXPECT_EQ(paged_.lists.back().limit, 16);
}

TEST_F(WatchListOfLongObjects, ReadsLongObjectsInARowAtTheBeginningAndAtTheEnd) {
  for (const char* name : {"p00", "p01", "p30", "p31", "p32", "p59"}) put(name, 50'000);
  make_paged();
  settle();
  EXPECT_TRUE(machine_->synced());
  EXPECT_THAT(names(), SizeIs(60));
  EXPECT_EQ(std::ranges::count_if(store_.list(), [](const auto& pod) { return pod->minimal; }), 6);
  EXPECT_THAT(quarantined_, SizeIs(6));
}

TEST_F(WatchListOfLongObjects, KeepsTheKnownVersionOfAnObjectThatIsTooLong) {
  make_paged();
  settle();
  ASSERT_THAT(names(), SizeIs(60));
  put("p20", 100'000);
  make_paged();  // As after an expired resourceVersion: lists into the same store.
  settle();
  EXPECT_THAT(names(), SizeIs(60));
  EXPECT_THAT(quarantined_, ElementsAre("default/p20"));
}

TEST_F(WatchListTest, AsksAgainForThePageThatWasTooLong) {
  make_listing();
  reader_.pages.emplace_back(too_long());
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10, "more"));
  reader_.pages.emplace_back(too_long());
  reader_.pages.emplace_back(page({pod_json("b", 5)}, 10));
  reader_.expect_stream();
  settle();
  ASSERT_THAT(reader_.lists, SizeIs(4));
  EXPECT_EQ(reader_.lists[1].limit, 250);
  EXPECT_THAT(reader_.lists[2].limit, AllOf(Ge(251), ::testing::Le(500)));
  EXPECT_EQ(reader_.lists[3].limit, reader_.lists[2].limit / 2);
  EXPECT_EQ(reader_.lists[3].continue_token, "more");
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(WatchListTest, LimitsTheBytesOfPagesOfSeveralObjects) {
  make_listing();
  for (int i = 0; i < 9; ++i) reader_.pages.emplace_back(too_long());
  settle();
  EXPECT_EQ(reader_.lists.at(0).max_bytes, 8U << 20U);
  EXPECT_EQ(reader_.lists.at(8).limit, 1);
  EXPECT_EQ(reader_.lists.at(8).max_bytes, 0U) << "the limit of the transport";
}

TEST_F(WatchListTest, BacksOffIfTheMetadataIsTooLongAsWell) {
  make_listing();
  for (int i = 0; i < 10; ++i) reader_.pages.emplace_back(too_long());
  EXPECT_GT(settle(), clock_.now());
  EXPECT_TRUE(reader_.lists.at(9).metadata_only);
  reader_.pages.emplace_back(page({}, 10));
  reader_.expect_stream();
  clock_.advance(1min);
  settle();
  EXPECT_FALSE(reader_.lists.at(10).metadata_only);
  EXPECT_TRUE(machine_->synced());
}

std::optional<std::string> throws_for_bad_pods(const PodView& pod) {
  if (pod.key.name.starts_with("bad")) throw std::runtime_error("no value");
  return pod.key.name;
}

/// Regression: an exception of a listener or an index function ended the process, and again after each restart.
TEST_F(WatchListTest, AnExceptionCostsOneObjectOnly) {
  const Index<PodView> index = store_.add_index(throws_for_bad_pods);
  std::set<std::string> heard;
  store_.add_listener([](const auto&, const auto& after) {
    if (after && after->key.name.starts_with("bad")) throw std::runtime_error("listener");
  });
  store_.add_listener([&](const auto&, const auto& after) {
    if (after) heard.insert(after->key.name);
  });
  make_listing();
  reader_.pages.emplace_back(page({pod_json("a", 5), pod_json("bad", 6), pod_json("c", 7)}, 10));
  auto feed = reader_.expect_stream();
  feed->line(event("ADDED", pod_json("bad-2", 11)));
  feed->line(event("ADDED", pod_json("d", 12)));
  settle();
  EXPECT_THAT(names(), ElementsAre("a", "bad", "bad-2", "c", "d"));
  EXPECT_THAT(heard, ElementsAre("a", "bad", "bad-2", "c", "d")) << "by the other listener";
  EXPECT_TRUE(index.contains("d"));
  EXPECT_FALSE(index.contains("bad"));
  feed->line(event("DELETED", pod_json("bad", 13)));
  settle();
  EXPECT_THAT(names(), ElementsAre("a", "bad-2", "c", "d"));
  EXPECT_GT(metrics_.counter("tpuslice_exceptions_total", "", {{"where", "store"}}).value(), 0);
}

/// A sink that throws for objects with the name "bad", and always while `broken`.
class ThrowingSink final : public WatchSink {
 public:
  explicit ThrowingSink(PodStore& store, const KeptKeys& annotations, const bool& broken)
      : inner_(store, annotations), broken_(broken) {}
  bool for_view() const override { return inner_.for_view(); }
  void begin() override { inner_.begin(); }
  Status stage(std::string_view object) override {
    check(object);
    return inner_.stage(object);
  }
  Status stage_metadata(std::string_view metadata) override { return inner_.stage_metadata(metadata); }
  void unstage(const ObjectKey& key) override { inner_.unstage(key); }
  void commit(std::uint64_t revision) override {
    if (broken_) throw std::runtime_error("commit");
    inner_.commit(revision);
  }
  void set_unsynced() override { inner_.set_unsynced(); }
  void set_absent(bool absent) override { inner_.set_absent(absent); }
  Status put(std::string_view object) override {
    check(object);
    return inner_.put(object);
  }
  void erase(const ObjectKey& key, std::uint64_t revision) override { inner_.erase(key, revision); }
  void advance(std::uint64_t revision) override { inner_.advance(revision); }
  bool fits_again() const override { return inner_.fits_again(); }

 private:
  static void check(std::string_view object) {
    if (object.find("\"bad\"") != object.npos) throw std::runtime_error("decode");
  }
  StoreSink<PodView> inner_;
  const bool& broken_;
};

class WatchOfThrowingSink : public WatchListTest {
 protected:
  WatchOfThrowingSink() {
    WatchMachineOptions options;
    options.watch_list = false;
    make(options);
    machine_ = std::make_unique<WatchMachine>(kPods, WatchScope{.label_selector = "app=x"},
                                              std::make_unique<ThrowingSink>(store_, annotations_, broken_), options,
                                              WatchMachine::Dependencies{reader_, clock_, random_, metrics_, Logger()});
    machine_->on_quarantine([this](const QuarantinedObject& object) {
      quarantined_.push_back(object.key.to_string());
      return true;
    });
  }
  bool broken_ = false;
};

TEST_F(WatchOfThrowingSink, QuarantinesAnObjectWhoseDecodingThrows) {
  reader_.pages.emplace_back(page({pod_json("a", 5), pod_json("bad", 6)}, 10));
  auto feed = reader_.expect_stream();
  settle();
  EXPECT_THAT(names(), ElementsAre("a", "bad"));
  EXPECT_TRUE(store_.get({"default", "bad"})->minimal);
  EXPECT_THAT(quarantined_, ElementsAre("default/bad"));
  feed->line(event("MODIFIED", pod_json("bad", 11)));
  feed->line(event("ADDED", pod_json("c", 12)));
  settle();
  EXPECT_THAT(names(), ElementsAre("a", "bad", "c"));
}

TEST_F(WatchOfThrowingSink, ListsAgainAfterAnyOtherException) {
  broken_ = true;
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
  const Instant due = settle();
  EXPECT_FALSE(machine_->synced());
  broken_ = false;
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
  reader_.expect_stream();
  clock_.advance(due - clock_.now());
  settle();
  EXPECT_TRUE(machine_->synced());
  EXPECT_THAT(names(), ElementsAre("a"));
}

/// Regression: after a refusal or three broken streams all lists were read page by page, without a word in the log.
TEST_F(WatchListTest, SaysThatListsAreNotStreamedAndStreamsThemAgainLater) {
  WatchMachineOptions options;
  options.watch_list_retry = 2min;
  make(options);
  reader_.streams.emplace_back(Error::of(ErrorCode::kInvalid, "sendInitialEvents is forbidden"));
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 10));
  auto feed = reader_.expect_stream();
  settle();
  EXPECT_EQ(lines("list not streamed; reading it page by page"), 1);
  EXPECT_EQ(lines("sendInitialEvents is forbidden"), 1);
  clock_.advance(1min);
  feed->line(expired_event());
  reader_.pages.emplace_back(page({pod_json("a", 5)}, 20));
  feed = reader_.expect_stream();
  settle();
  EXPECT_THAT(reader_.lists, SizeIs(2));
  clock_.advance(1min);
  feed->line(expired_event());
  feed = reader_.expect_stream();
  feed->line(event("ADDED", pod_json("b", 25)));
  feed->line(bookmark(30, true));
  settle();
  EXPECT_THAT(reader_.lists, SizeIs(2));
  EXPECT_TRUE(reader_.watches.back().send_initial_events);
  EXPECT_THAT(names(), ElementsAre("b"));
}

/// Regression: the controllers of a removed CRD went on creating children for the objects that the store had. Then the
/// objects were forgotten, and RayJobs failed whose RayCluster was of a version that was not served for a while.
TEST_F(WatchListTest, IsNotSyncedWhileTheTypeIsNotServed) {
  auto feed = watching();
  clock_.advance(5s);
  feed->end();
  const auto not_served = [&] {
    reader_.streams.emplace_back(Error::not_found("the server could not find the requested resource"));
    for (int i = 0; i < 20; ++i) reader_.pages.emplace_back(Error::not_found("the server could not find it"));
  };
  not_served();
  settle();
  EXPECT_TRUE(machine_->absent());
  EXPECT_TRUE(machine_->synced()) << "an API server that starts may not serve it for a moment";
  EXPECT_TRUE(store_.synced());
  for (int i = 0; i < 8; ++i) clock_.advance(settle() - clock_.now());
  EXPECT_FALSE(machine_->synced());
  EXPECT_FALSE(store_.synced());
  EXPECT_THAT(names(), ElementsAre("a")) << "it may exist";
  EXPECT_EQ(lines("type is no longer served; its controllers stop"), 1);
  reader_.pages.clear();
  reader_.pages.emplace_back(page({pod_json("b", 55)}, 60));
  reader_.expect_stream();
  clock_.advance(1min);
  settle();
  EXPECT_FALSE(machine_->absent());
  EXPECT_TRUE(machine_->synced());
  EXPECT_TRUE(store_.synced());
  EXPECT_THAT(names(), ElementsAre("b"));
}

}  // namespace
}  // namespace tpuslice::runtime
