#include "api/client/protobuf_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/client/requests.h"
#include "api/client/view_fields.h"
#include "api/types/views.h"
#include "tests/support/error_matchers.h"
#include "tests/support/feed.h"
#include "tests/support/protobuf_writer.h"

namespace tpuslice::client {
namespace {

using ::testing::ElementsAre;
using testing::Feed;
using testing::FeedStream;
using ::testing::HasSubstr;
using testing::ProtobufWriter;

const http::Headers kProtobuf = {{"Content-Type", "application/vnd.kubernetes.protobuf;stream=watch"}};

ProtobufWriter pod_named(std::string_view name, std::string_view revision) {
  const ProtobufWriter metadata =
      ProtobufWriter().bytes(1, name).bytes(3, "default").bytes(5, "uid").bytes(6, revision);
  return std::move(ProtobufWriter().message(1, metadata));
}

std::string event(std::string_view type, const std::string& document) {
  return ProtobufWriter().bytes(1, type).message(2, ProtobufWriter().bytes(1, document)).text();
}

std::string frame(const std::string& text) {
  std::string length;
  for (const int shift : {24, 16, 8, 0}) length += static_cast<char>(text.size() >> static_cast<unsigned>(shift));
  return length + text;
}

TEST(ProtobufList, GivesItemsAndWhereToContinue) {
  const ProtobufWriter metadata = ProtobufWriter().bytes(1, "").bytes(2, "42").bytes(3, "token").varint(4, 9);
  const ListPage list = convert_list(ProtobufWriter()
                                         .message(1, metadata)
                                         .message(2, pod_named("a", "7"))
                                         .message(2, pod_named("b", "8"))
                                         .document("PodList"),
                                     *view_fields(kPods))
                            .value();
  EXPECT_EQ(list.resource_version, "42");
  EXPECT_EQ(list.continue_token, "token");
  EXPECT_EQ(list.remaining, 9);
  EXPECT_THAT(list.items,
              ElementsAre(R"({"metadata":{"name":"a","namespace":"default","uid":"uid","resourceVersion":"7"}})",
                          R"({"metadata":{"name":"b","namespace":"default","uid":"uid","resourceVersion":"8"}})"));
}

TEST(ProtobufList, NeedsAResourceVersion) {
  const ProtobufWriter list = ProtobufWriter().message(2, pod_named("a", "7"));
  EXPECT_THAT(convert_list(list.document("PodList"), *view_fields(kPods)).error().message(),
              HasSubstr("resourceVersion"));
  EXPECT_THAT(convert_list("{}", *view_fields(kPods)), IsError(ErrorCode::kInternal));
  EXPECT_THAT(convert_list(ProtobufWriter().varint(0, 1).document("PodList"), *view_fields(kPods)),
              IsError(ErrorCode::kInternal));
}

TEST(ProtobufList, IsRefusedIfItsMetadataBreaksOff) {
  const std::string metadata = ProtobufWriter().bytes(2, "42").bytes(3, "token").text();
  const ProtobufWriter list = ProtobufWriter().bytes(1, metadata.substr(0, metadata.size() - 1));
  EXPECT_THAT(convert_list(list.document("PodList"), *view_fields(kPods)).error().message(), HasSubstr("metadata"));
}

TEST(ProtobufList, NamesTheObjectThatIsMalformed) {
  const ProtobufWriter metadata = ProtobufWriter().bytes(1, "a").bytes(3, "team").varint(5, 1);
  const ProtobufWriter list = ProtobufWriter().message(2, ProtobufWriter().message(1, metadata));
  EXPECT_THAT(convert_list(list.document("PodList"), *view_fields(kPods)).error().message(), HasSubstr("team/a"));
}

/// The client then asks for a smaller page, as if the response were too long.
TEST(ProtobufList, IsTooLongIfItsJsonIs) {
  const ProtobufWriter metadata =
      ProtobufWriter().bytes(1, "a").bytes(3, "team").entry(12, "a", std::string(1U << 20U, '\x01'));
  ProtobufWriter list = ProtobufWriter().message(1, ProtobufWriter().bytes(2, "42"));
  for (int i = 0; i < 3; ++i) list.message(2, ProtobufWriter().message(1, metadata));
  const Error error = convert_list(list.document("PodList"), *view_fields(kPods)).error();
  EXPECT_EQ(error.code(), ErrorCode::kResponseTooLong);
}

std::string not_found() {
  return ProtobufWriter()
      .bytes(2, "Failure")
      .bytes(3, "pods \"nope\" not found")
      .bytes(4, "NotFound")
      .message(5, ProtobufWriter().bytes(1, "nope").varint(5, 3))
      .varint(6, 404)
      .document("Status");
}

TEST(ProtobufStatus, IsTheErrorOfAResponse) {
  const Error error = error_from_response({404, kProtobuf, not_found()}, "get pods default/nope");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.reason(), "NotFound");
  EXPECT_EQ(error.message(), "get pods default/nope: pods \"nope\" not found");
  EXPECT_EQ(error.retry_after(), std::chrono::seconds(3));
}

TEST(ProtobufStatus, WithoutACodeHasThatOfTheResponse) {
  const std::string status = ProtobufWriter().bytes(3, "busy").varint(6, 0).document("Status");
  EXPECT_EQ(error_from_response({503, kProtobuf, status}, "list pods").code(), ErrorCode::kUnavailable);
}

TEST(ProtobufStatus, ThatCannotBeReadLeavesTheHttpStatus) {
  EXPECT_EQ(error_from_response({503, kProtobuf, "nonsense"}, "list pods").code(), ErrorCode::kUnavailable);
}

TEST(ProtobufEvents, HaveTheObjectAsJson) {
  const WatchEvent read =
      decode_protobuf_event(event("MODIFIED", pod_named("a", "7").document("Pod")), *view_fields(kPods)).value();
  EXPECT_EQ(read.type, WatchEventType::kModified);
  EXPECT_EQ(read.key, (ObjectKey{"default", "a"}));
  EXPECT_EQ(read.resource_version, "7");
  EXPECT_EQ(PodView::decode(read.object).value().uid, "uid");
}

TEST(ProtobufEvents, MarkTheEndOfInitialEvents) {
  const ProtobufWriter metadata = ProtobufWriter().bytes(6, "9").entry(12, "k8s.io/initial-events-end", "true");
  const ProtobufWriter bookmark = ProtobufWriter().message(1, metadata);
  EXPECT_TRUE(decode_protobuf_event(event("BOOKMARK", bookmark.document("Pod")), *view_fields(kPods))
                  .value()
                  .initial_events_end);
}

TEST(ProtobufEvents, CarryThe410OfAnOldResourceVersion) {
  const ProtobufWriter status = ProtobufWriter().bytes(3, "too old").bytes(4, "Expired").varint(6, 410);
  const WatchEvent read = decode_protobuf_event(event("ERROR", status.document("Status")), *view_fields(kPods)).value();
  EXPECT_EQ(read.type, WatchEventType::kError);
  EXPECT_EQ(read.error->code(), ErrorCode::kExpired);
}

TEST(ProtobufEvents, AreErrorsIfTheyCannotBeRead) {
  const std::string pod = pod_named("a", "7").document("Pod");
  EXPECT_THAT(decode_protobuf_event(event("MOVED", pod), *view_fields(kPods)).error().message(), HasSubstr("MOVED"));
  EXPECT_THAT(decode_protobuf_event(event("ADDED", "nonsense"), *view_fields(kPods)), IsError(ErrorCode::kInternal));
  EXPECT_THAT(decode_protobuf_event(event("ERROR", "nonsense"), *view_fields(kPods)), IsError(ErrorCode::kInternal));
  EXPECT_THAT(decode_protobuf_event("", *view_fields(kPods)), IsError(ErrorCode::kInternal));
}

TEST(FrameSplitter, JoinsFramesFromChunks) {
  const std::string bytes = frame("first") + frame("") + frame(std::string(300, 'x'));
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 1000U}) {
    FrameSplitter splitter(1000);
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      ASSERT_TRUE(splitter.feed(std::string_view(bytes).substr(at, chunk)).ok());
      while (auto next = splitter.next()) frames.push_back(*std::move(next));
    }
    EXPECT_THAT(frames, ElementsAre("first", "", std::string(300, 'x')));
  }
}

TEST(FrameSplitter, RefusesAFrameThatIsTooLongBeforeItArrives) {
  FrameSplitter splitter(1000);
  ASSERT_TRUE(splitter.feed(frame(std::string(1000, 'x'))).ok());
  EXPECT_TRUE(splitter.next().has_value());
  EXPECT_THAT(splitter.feed(std::string("\0\0\x03\xe9", 4)).error().message(), HasSubstr("longer than 1000 bytes"));
}

TEST(FrameSplitter, RefusesALongFrameBehindAWholeOne) {
  FrameSplitter splitter(1000);
  EXPECT_THAT(splitter.feed(frame("a") + std::string("\x7f\0\0\0", 4)), IsError(ErrorCode::kInternal));
}

TEST(FrameSplitter, KeepsFramesUntilTheyAreRead) {
  FrameSplitter splitter(1000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(splitter.feed(frame("a") + frame("b").substr(0, i == 99 ? 2 : 5)).ok());
  int frames = 0;
  while (splitter.next()) ++frames;
  EXPECT_EQ(frames, 199);
  EXPECT_EQ(splitter.pending(), 2U);
}

TEST(WatchStream, IsReadAsTheServerEncodesIt) {
  const auto feed = std::make_shared<Feed>();
  const std::string bytes = frame(event("ADDED", pod_named("a", "7").document("Pod")));
  feed->put(bytes.substr(0, 10));
  feed->put(bytes.substr(10) + bytes);
  feed->end();
  WatchStream watch(std::make_unique<FeedStream>(feed, 200, kProtobuf), view_fields(kPods));
  EXPECT_FALSE(watch.next(Duration::zero(), {}).value().has_value());
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "a");
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "a");
  EXPECT_TRUE(http::is_end_of_stream(watch.next(Duration::zero(), {}).error()));
}

TEST(WatchStream, IsJsonIfTheServerSendsNoProtobuf) {
  const auto feed = std::make_shared<Feed>();
  feed->put("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n");
  WatchStream watch(std::make_unique<FeedStream>(feed), view_fields(kPods));
  EXPECT_EQ(watch.next(Duration::zero(), {}).value()->key.name, "a");
}

TEST(Requests, AskForProtobufIfTheFieldsAreKnown) {
  const auto accept = [](const http::Request& request) { return *http::find_header(request.headers, "Accept"); };
  EXPECT_EQ(accept(list_request(kPods, {.for_view = true})), kAcceptProtobuf);
  EXPECT_EQ(accept(watch_request(kPods, {.for_view = true})), kAcceptProtobuf);
  EXPECT_EQ(accept(list_request(kJobs, {.for_view = true})), "application/json");
  EXPECT_EQ(accept(list_request(kPods, {})), "application/json");
  EXPECT_EQ(accept(watch_request(kPods, {})), "application/json");
}

}  // namespace
}  // namespace tpuslice::client
