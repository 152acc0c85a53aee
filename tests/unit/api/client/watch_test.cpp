#include "api/client/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/feed.h"

namespace tpuslice::client {
namespace {

using tpuslice::testing::Feed;
using tpuslice::testing::FeedStream;

TEST(WatchEvents, KeepTheObjectUnchanged) {
  const WatchEvent event =
      decode_watch_event(
          R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"b","resourceVersion":"7"},"x":[ 1 ]}})")
          .value();
  EXPECT_EQ(event.type, WatchEventType::kModified);
  EXPECT_EQ(event.object, R"({"kind":"Pod","metadata":{"name":"a","namespace":"b","resourceVersion":"7"},"x":[ 1 ]})");
  EXPECT_EQ(event.resource_version, "7");
  EXPECT_EQ(event.key, (ObjectKey{"b", "a"}));
}

TEST(WatchEvents, AreReadInAnyMemberOrder) {
  const WatchEvent event =
      decode_watch_event(
          R"({"object":{"metadata":{"resourceVersion":"7","name":"a","namespace":"b"},"kind":"Pod"},"type":"ADDED"})")
          .value();
  EXPECT_EQ(event.resource_version, "7");
  EXPECT_EQ(event.key, (ObjectKey{"b", "a"}));
}

TEST(WatchEvents, ReadEveryType) {
  const auto type_of = [](const std::string& name) {
    return decode_watch_event(R"({"object":{"metadata":{}},"type":")" + name + "\"}").value().type;
  };
  EXPECT_EQ(type_of("ADDED"), WatchEventType::kAdded);
  EXPECT_EQ(type_of("DELETED"), WatchEventType::kDeleted);
  EXPECT_EQ(type_of("BOOKMARK"), WatchEventType::kBookmark);
}

TEST(WatchEvents, MarkTheEndOfInitialEvents) {
  const auto bookmark = [](const std::string& annotations) {
    return decode_watch_event(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)" +
                              annotations + "}}}")
        .value();
  };
  EXPECT_TRUE(bookmark(R"({"k8s.io/initial-events-end":"true"})").initial_events_end);
  EXPECT_FALSE(bookmark("{}").initial_events_end);
  EXPECT_EQ(bookmark("{}").resource_version, "9");
}

TEST(WatchEvents, CarryThe410OfAnOldResourceVersion) {
  const WatchEvent event =
      decode_watch_event(
          R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}})")
          .value();
  EXPECT_EQ(event.type, WatchEventType::kError);
  ASSERT_TRUE(event.error);
  EXPECT_EQ(event.error->code(), ErrorCode::kExpired);
  EXPECT_EQ(event.error->reason(), "Expired");
}

TEST(WatchEvents, TreatABareStatusAsAnError) {
  const WatchEvent event = decode_watch_event(R"({"kind":"Status","code":429,"reason":"TooManyRequests"})").value();
  ASSERT_TRUE(event.error);
  EXPECT_EQ(event.error->code(), ErrorCode::kTooManyRequests);
}

TEST(WatchEvents, KeepTheKeyOfAMalformedObject) {
  const WatchEvent event = decode_watch_event(
                               "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"8\"}"
                               ",\"spec\":{nonsense \xff}}}")
                               .value();
  EXPECT_EQ(event.key.name, "a");
  EXPECT_EQ(event.resource_version, "8");
}

TEST(WatchEvents, RefuseMalformedLines) {
  for (const char* line : {"nonsense", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":{"a":1})",
                           R"({"type":"NEWS","object":{}})", R"({"object":{}})", "[]", "<html>"}) {
    const auto event = decode_watch_event(line);
    EXPECT_THAT(event, IsError(ErrorCode::kInternal)) << line;
  }
}

std::vector<std::string> lines_of(std::string_view text, std::size_t step) {
  LineSplitter decoder;
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size(); at += step) {
    EXPECT_TRUE(decoder.feed(text.substr(at, step)).ok());
    while (auto line = decoder.next()) out.push_back(*std::move(line));
  }
  return out;
}

TEST(LineSplitter, JoinsLinesFromChunks) {
  const std::string text = "one\n\ntwo\r\n" + std::string(300, 'x') + "\nfour\nrest";
  const std::vector<std::string> expected = {"one", "two", std::string(300, 'x'), "four"};
  for (const std::size_t step : {1U, 2U, 3U, 7U, 64U, 1000U}) EXPECT_EQ(lines_of(text, step), expected) << step;
}

TEST(LineSplitter, KeepsLinesUntilTheyAreRead) {
  LineSplitter decoder;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(decoder.feed("line\n").ok());
  int lines = 0;
  while (decoder.next()) ++lines;
  EXPECT_EQ(lines, 100);
  EXPECT_EQ(decoder.pending(), 0U);
}

/// Regression: a line that was too long passed if its last chunk had the end of the line, too.
TEST(LineSplitter, LimitsALineThatEndsWithinItsChunk) {
  LineSplitter decoder(4);
  EXPECT_TRUE(decoder.feed("abcd\nef").ok());
  EXPECT_TRUE(decoder.feed("gh\n\nij").ok());
  EXPECT_EQ(decoder.pending(), 2U);
  EXPECT_THAT(decoder.feed("klm\nn"), IsError(ErrorCode::kInternal));
  EXPECT_THAT(LineSplitter(4).feed("abcde\n"), IsError(ErrorCode::kInternal));
}

TEST(LineSplitter, LimitsTheLengthOfALine) {
  LineSplitter decoder(100);
  EXPECT_TRUE(decoder.feed(std::string(60, 'a') + "\n").ok());
  EXPECT_TRUE(decoder.feed(std::string(60, 'a')).ok());
  EXPECT_THAT(decoder.feed(std::string(60, 'a')), IsError(ErrorCode::kInternal));
}

TEST(LineSplitter, DoesNotLimitTheSizeOfAChunk) {
  LineSplitter decoder(100);
  std::string many;
  for (int i = 0; i < 50; ++i) many += std::string(60, 'a') + "\n";
  EXPECT_TRUE(decoder.feed(many).ok());
}

/// Returns the chunks, then ends.
WatchStream stream_of(const std::vector<std::string>& chunks) {
  const auto feed = std::make_shared<Feed>();
  for (const std::string& chunk : chunks) feed->put(chunk);
  feed->end();
  return WatchStream(std::make_unique<FeedStream>(feed), nullptr, 1000);
}

TEST(WatchStream, ReturnsEventsThenTheEnd) {
  const std::string event = R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})";
  WatchStream watch = stream_of({event + "\n" + event.substr(0, 10), event.substr(10) + "\n"});
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "a");
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "a");
  EXPECT_TRUE(http::is_end_of_stream(watch.next(Duration::zero(), {}).error()));
}

/// Its caller checks its deadlines meanwhile.
TEST(WatchStream, ReturnsNothingForAPartOfAnEvent) {
  WatchStream watch = stream_of({R"({"type":"ADDED","object":)", "{\"metadata\":{\"name\":\"a\"}}}\n"});
  EXPECT_FALSE(watch.next(Duration::zero(), {}).value().has_value());
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "a");
}

TEST(WatchStream, ReturnsNothingWithoutAnEvent) {
  WatchStream watch = stream_of({""});
  EXPECT_FALSE(watch.next(Duration::zero(), {}).value().has_value());
}

TEST(WatchStream, ContinuesAfterAMalformedObject) {
  WatchStream watch =
      stream_of({"{\"type\":\"ADDED\",\"object\":{\"metadata\":{},\"x\":\xff}}\n"
                 "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"b\"}}}\n"});
  EXPECT_TRUE(watch.next(Duration::zero(), {}).value().has_value());
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "b");
}

TEST(WatchStream, FailsOnALineThatIsTooLong) {
  WatchStream watch = stream_of({std::string(2000, 'x')});
  EXPECT_THAT(watch.next(Duration::zero(), {}), IsError(ErrorCode::kInternal));
}

}  // namespace
}  // namespace tpuslice::client
