#include "controllers/runtime/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "tests/support/fake_api.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tpuslice::testing::FakeApi;

class EventRecorderTest : public ::testing::Test {
 protected:
  void record(const std::string& message, const std::string& name = "w", const std::string& reason = "Created",
              const std::string& namespace_name = "default") {
    recorder_.record({"example.com/v1", "Widget", {namespace_name, name}, "uid-" + name, "7"},
                     {plan::EventType::kNormal, reason, "Create", message});
  }
  Instant settle() {
    for (int i = 0; i < 200; ++i) {
      const Instant due = recorder_.step(clock_.now(), {});
      if (due > clock_.now()) return due;
    }
    ADD_FAILURE() << "step() is always due";
    return clock_.now();
  }
  void advance(Duration by) {
    clock_.advance(by);
    settle();
  }
  double counter(const std::string& name) { return metrics_.counter(name, "").value(); }

  FakeClock clock_;
  Metrics metrics_;
  FakeApi api_;
  EventRecorder recorder_{{}, api_, clock_, metrics_, Logger()};
};

TEST_F(EventRecorderTest, SetsTheFieldsThatKubectlShows) {
  record("created pod a");
  EXPECT_THAT(api_.writes(), IsEmpty()) << "record() never waits for the API server";
  settle();
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  const Json event = api_.all(kEvents)[0].json();
  EXPECT_EQ(event["metadata"]["namespace"], "default");
  EXPECT_EQ(event["metadata"]["name"].get<std::string>().substr(0, 2), "w.");
  EXPECT_EQ(event["eventTime"], "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(event["regarding"], Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget", "name": "w",
                                               "namespace": "default", "uid": "uid-w", "resourceVersion": "7"})"));
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["reason"], "Created");
  EXPECT_EQ(event["action"], "Create");
  EXPECT_EQ(event["note"], "created pod a");
  EXPECT_FALSE(event.contains("series"));
  EXPECT_FALSE(event.contains("related"));
}

TEST_F(EventRecorderTest, RemembersNoMoreSeriesThanItsLimit) {
  EventRecorder small{{.max_series = 3}, api_, clock_, metrics_, Logger()};
  const auto record_in_small = [&](int i) {
    small.record({"example.com/v1", "Widget", {"default", std::to_string(i)}, std::to_string(i), {}},
                 {plan::EventType::kNormal, "Created", "Create", "created"});
    while (small.step(clock_.now(), {}) <= clock_.now()) {
    }
    clock_.advance(1s);
  };
  for (int i = 0; i < 5; ++i) record_in_small(i);
  ASSERT_THAT(api_.all(kEvents), SizeIs(5));
  record_in_small(4);
  EXPECT_THAT(api_.all(kEvents), SizeIs(5)) << "it continues a series";
  record_in_small(0);
  EXPECT_THAT(api_.all(kEvents), SizeIs(6)) << "the oldest one was forgotten";
}

TEST_F(EventRecorderTest, SetsTheRelatedObjectOfTheFirstEventOfASeries) {
  plan::EventIntent event{plan::EventType::kNormal, "Restarted", "Delete", "restarted group 0", std::nullopt};
  for (const char* uid : {"uid-1", "uid-2"}) {
    event.related = plan::ObjectReference{"v1", "Pod", {"default", "w-0"}, uid, {}};
    recorder_.record({"example.com/v1", "Widget", {"default", "w"}, "uid-w", {}}, event);
    settle();
  }
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(
      api_.all(kEvents)[0].json()["related"],
      Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "name": "w-0", "namespace": "default", "uid": "uid-1"})"));
  EXPECT_EQ(api_.all(kEvents)[0].json()["series"]["count"], 2);
}

TEST_F(EventRecorderTest, PutsEventsOfClusterScopedObjectsIntoDefault) {
  recorder_.record({"v1", "Node", {"", "n"}, "uid-n", ""},
                   {plan::EventType::kWarning, "Lost", "", "heartbeat missed", std::nullopt});
  settle();
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(api_.all(kEvents)[0].namespace_name(), "default");
  EXPECT_FALSE(api_.all(kEvents)[0].json()["regarding"].contains("namespace"));
}

TEST_F(EventRecorderTest, CountsIdenticalEventsInOneSeries) {
  record("created pod a");
  settle();
  clock_.advance(1s);
  record("created pod a");
  settle();
  for (int i = 0; i < 100; ++i) record("created pod a");
  settle();
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_THAT(api_.writes(), SizeIs(2)) << "a create, and a patch for the second event";
  EXPECT_EQ(api_.all(kEvents)[0].json()["series"]["count"], 2);
  EXPECT_EQ(api_.all(kEvents)[0].json()["series"]["lastObservedTime"], "2026-01-01T00:00:01.000000Z");
  advance(6min);
  EXPECT_EQ(api_.all(kEvents)[0].json()["series"]["count"], 102) << "written when the series ended";
  advance(10min);
  EXPECT_THAT(api_.writes(), SizeIs(3));
  record("created pod a");
  settle();
  EXPECT_THAT(api_.all(kEvents), SizeIs(2)) << "a new event after the series";
}

TEST_F(EventRecorderTest, RefreshesTheCountOfALongSeries) {
  for (int minute = 0; minute < 65; ++minute) {
    record("waiting");
    settle();
    clock_.advance(1min);
  }
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(api_.writes().size(), 4U) << "a create, a patch for the second event, two refreshes";
}

TEST_F(EventRecorderTest, RetriesWithTheSameNameToAvoidDuplicates) {
  int lost = 3;
  api_.lost_reply = [&](const FakeApi::Call&) {
    return lost-- > 0 ? std::optional<Error>(Error::unavailable("reset")) : std::nullopt;
  };
  record("created pod a");
  EXPECT_EQ(settle() - clock_.now(), 10s);
  advance(10s);
  advance(10s);
  EXPECT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_THAT(api_.writes(), SizeIs(2));
}

TEST_F(EventRecorderTest, GivesUpAfterTwelveTries) {
  api_.fault = [](const FakeApi::Call&) { return Error::unavailable("down"); };
  record("created pod a");
  settle();
  for (int i = 0; i < 30; ++i) advance(10s);
  EXPECT_THAT(api_.writes(), SizeIs(12));
  EXPECT_EQ(counter("tpuslice_events_failed_total"), 1);
}

TEST_F(EventRecorderTest, AThrottledNamespaceDoesNotDelayTheOthers) {
  bool throttling = true;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (!throttling || call.key.namespace_name != "greedy") return std::nullopt;
    return Error::of(ErrorCode::kTooManyRequests, "limit reached on type Namespace");
  };
  for (int i = 0; i < 20; ++i) record("m", "g" + std::to_string(i), "Created", "greedy");
  record("m", "w", "Created", "modest");
  EXPECT_EQ(settle() - clock_.now(), 100ms);
  advance(100ms);
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(api_.all(kEvents)[0].key().namespace_name, "modest");
  EXPECT_THAT(api_.writes(), SizeIs(2)) << "one request finds that the namespace is throttled";
  record("m", "late", "Created", "modest");
  EXPECT_EQ(settle() - clock_.now(), 9900ms) << "until the namespace is tried again";
  EXPECT_THAT(api_.all(kEvents), SizeIs(2));
  throttling = false;
  advance(9900ms);
  EXPECT_THAT(api_.all(kEvents), SizeIs(22));
}

TEST_F(EventRecorderTest, CountsItsIntervalsFromTheEndOfARequest) {
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.key.namespace_name != "greedy") return std::nullopt;
    clock_.advance(15s);
    return Error::of(ErrorCode::kTooManyRequests, "limit reached on type Namespace");
  };
  record("m", "g", "Created", "greedy");
  record("m", "w", "Created", "modest");
  const Instant due = settle();
  EXPECT_EQ(due - clock_.now(), 100ms);
  advance(100ms);
  EXPECT_THAT(api_.all(kEvents), SizeIs(1)) << "the greedy namespace is not tried again first";
}

TEST_F(EventRecorderTest, WaitsAsLongAsAnOverloadedServerSays) {
  api_.fault = [](const FakeApi::Call&) {
    Error error = Error::of(ErrorCode::kTooManyRequests, "too many requests");
    error.with_retry_after(30s);
    return error;
  };
  record("m", "a", "Created", "a");
  record("m", "b", "Created", "b");
  EXPECT_EQ(settle() - clock_.now(), 30s);
  EXPECT_THAT(api_.writes(), SizeIs(1));
}

TEST_F(EventRecorderTest, SendsTheCountOfAnEventWhoseFirstReplyWasLost) {
  int lost = 1;
  api_.lost_reply = [&](const FakeApi::Call&) {
    return lost-- > 0 ? std::optional<Error>(Error::unavailable("reset")) : std::nullopt;
  };
  record("created pod a");
  settle();
  record("created pod a");
  advance(10s);
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(api_.all(kEvents)[0].json()["series"]["count"], 2);
}

TEST_F(EventRecorderTest, ThrottledRequestsAreOneEachInterval) {
  api_.fault = [](const FakeApi::Call&) { return Error::of(ErrorCode::kTooManyRequests, "too many requests"); };
  for (int i = 0; i < 500; ++i) record("m", "w", "Created", "n" + std::to_string(i));
  for (int i = 0; i < 100; ++i) advance(100ms);
  EXPECT_THAT(api_.writes(), SizeIs(100)) << "in 10 s";
}

TEST_F(EventRecorderTest, DropsAnEventThatTheServerRejects) {
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.body["note"] != "bad") return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "namespace is being terminated");
  };
  record("bad");
  record("good");
  settle();
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(api_.all(kEvents)[0].json()["note"], "good");
}

TEST_F(EventRecorderTest, CreatesTheEventAgainAfterItExpired) {
  record("created pod a");
  settle();
  ASSERT_TRUE(api_.remove(kEvents, api_.all(kEvents)[0].key(), {}, {}).ok());
  record("created pod a");
  settle();
  ASSERT_THAT(api_.all(kEvents), SizeIs(1));
  EXPECT_EQ(api_.all(kEvents)[0].json()["series"]["count"], 2);
}

TEST_F(EventRecorderTest, LimitsTheEventsOfEachObjectAndReason) {
  for (int i = 0; i < 40; ++i) record("message " + std::to_string(i));
  record("other object", "x");
  record("other reason", "w", "Ready");
  settle();
  EXPECT_THAT(api_.all(kEvents), SizeIs(27));
  EXPECT_EQ(counter("tpuslice_events_filtered_total"), 15);
  clock_.advance(5min);
  record("later");
  settle();
  EXPECT_THAT(api_.all(kEvents), SizeIs(28));
}

TEST_F(EventRecorderTest, DropsTheOldestEventWhenTheQueueIsFull) {
  for (int i = 0; i < 1010; ++i) record("m", "w" + std::to_string(i));
  settle();
  EXPECT_THAT(api_.all(kEvents), SizeIs(1000));
  EXPECT_EQ(counter("tpuslice_events_dropped_total"), 10);
  EXPECT_EQ(api_.calls().front().body["regarding"]["name"], "w10");
}

TEST_F(EventRecorderTest, TruncatesLongNotesBetweenCharacters) {
  std::string note(1023, 'x');
  note += "\xc3\xa9tail";
  record(note);
  settle();
  EXPECT_EQ(api_.all(kEvents)[0].json()["note"], std::string(1023, 'x'));
}

}  // namespace
}  // namespace tpuslice::runtime
