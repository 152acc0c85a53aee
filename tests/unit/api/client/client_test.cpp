#include "api/client/client.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/feed.h"

namespace tpuslice::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tpuslice::testing::Feed;
using tpuslice::testing::FeedStream;

/// Returns the scripted replies in order and records the requests.
class ScriptedTransport final : public http::Transport {
 public:
  Result<http::Response> call(const http::Request& request, Duration, std::stop_token) override {
    requests.push_back(request);
    return next();
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration, std::stop_token) override {
    requests.push_back(request);
    ASSIGN_OR_RETURN(http::Response response, next());
    const auto feed = std::make_shared<Feed>();
    feed->put(std::move(response.body));
    feed->end();
    return std::unique_ptr<http::Stream>(std::make_unique<FeedStream>(feed, response.status));
  }
  void reply(int status, std::string body) { replies.emplace_back(http::Response{status, {}, std::move(body)}); }

  std::vector<http::Request> requests;
  std::deque<Result<http::Response>> replies;

 private:
  Result<http::Response> next() {
    Result<http::Response> out = replies.front();
    replies.pop_front();
    return out;
  }
};

class ClientTest : public ::testing::Test {
 protected:
  ScriptedTransport transport;
  Client client{transport, {.user_agent = "tester", .field_manager = "me"}};
};

TEST_F(ClientTest, GetReturnsTheObject) {
  transport.reply(200, R"({"metadata":{"name":"a","namespace":"ns"}})");
  EXPECT_EQ(client.get(kPods, {"ns", "a"}).value().name(), "a");
  EXPECT_EQ(*http::find_header(transport.requests[0].headers, "user-agent"), "tester");
}

TEST_F(ClientTest, ErrorsNameTheRequest) {
  transport.reply(404, R"({"kind":"Status","code":404,"reason":"NotFound","message":"pods \"a\" not found"})");
  const auto absent = client.get(kPods, {"ns", "a"});
  EXPECT_THAT(absent, IsError(ErrorCode::kNotFound, "get pods ns/a: pods \"a\" not found"));
}

TEST_F(ClientTest, ErrorsOfTheTransportKeepTheirCode) {
  transport.replies.emplace_back(Error(ErrorCode::kTimeout, "timed out"));
  EXPECT_THAT(client.get(kPods, {"ns", "a"}), IsError(ErrorCode::kTimeout));
}

TEST_F(ClientTest, NeverRetries) {
  transport.reply(500, "");
  EXPECT_THAT(client.get(kPods, {"ns", "a"}), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(transport.requests.size(), 1U);
}

TEST_F(ClientTest, RepliesThatAreNotJsonAreErrors) {
  transport.reply(200, "<html>");
  EXPECT_THAT(client.get(kPods, {"ns", "a"}), IsError(ErrorCode::kInternal));
}

TEST_F(ClientTest, ListReturnsItemsUnchanged) {
  transport.reply(
      200, R"({"metadata":{"resourceVersion":"5","continue":"c","remainingItemCount":3},"items":[{"a":1},{ }]})");
  const ListPage page = client.list(kPods, {.limit = 2}).value();
  EXPECT_THAT(page.items, ElementsAre(R"({"a":1})", "{ }"));
  EXPECT_EQ(page.resource_version, "5");
  EXPECT_EQ(page.continue_token, "c");
  EXPECT_EQ(page.remaining, 3);
}

TEST_F(ClientTest, WritesCarryTheFieldManager) {
  for (int i = 0; i < 3; ++i) transport.reply(200, "{}");
  const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}}}});
  ASSERT_TRUE(client.create(kPods, pod).ok());
  ASSERT_TRUE(client.patch(kPods, {"ns", "a"}, PatchType::kMerge, Json::object()).ok());
  ASSERT_TRUE(client.replace(kPods, pod).ok());
  EXPECT_EQ(transport.requests[0].target, "/api/v1/namespaces/ns/pods?fieldManager=me");
  EXPECT_EQ(transport.requests[1].target, "/api/v1/namespaces/ns/pods/a?fieldManager=me");
  EXPECT_EQ(transport.requests[2].method, "PUT");
}

TEST_F(ClientTest, StatusIsPatchedAtItsSubresource) {
  transport.reply(200, "{}");
  ASSERT_TRUE(client.update_status(kPods, {"ns", "a"}, Json{{"phase", "x"}}, {.resource_version = "4"}).ok());
  EXPECT_EQ(transport.requests[0].target, "/api/v1/namespaces/ns/pods/a/status?fieldManager=me");
  EXPECT_EQ(transport.requests[0].body, R"({"metadata":{"resourceVersion":"4"},"status":{"phase":"x"}})");
}

TEST_F(ClientTest, RemoveReportsAFailedPrecondition) {
  transport.reply(409, R"({"kind":"Status","code":409,"reason":"Conflict","message":"uid differs"})");
  EXPECT_THAT(client.remove(kPods, {"ns", "a"}, {.uid = "u"}), IsError(ErrorCode::kConflict));
}

TEST_F(ClientTest, WatchReturnsEvents) {
  transport.reply(200, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n");
  const auto watch = client.watch(kPods, {.resource_version = "5"}).value();
  EXPECT_EQ(watch->next(Duration::zero(), {}).value()->key.name, "a");
  EXPECT_TRUE(http::is_end_of_stream(watch->next(Duration::zero(), {}).error()));
}

TEST_F(ClientTest, RefusedWatchesAreErrors) {
  transport.reply(410, R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
  const auto refused = client.watch(kPods, {.resource_version = "5"});
  EXPECT_THAT(refused, IsError(ErrorCode::kExpired, HasSubstr("watch pods: too old")));
}

TEST(Client, RequestsAndReturnsMetadataOnly) {
  ScriptedTransport transport;
  Client client(transport);
  transport.reply(201, R"({"kind":"PartialObjectMetadata","metadata":{"name":"a","namespace":"n","uid":"u",)"
                       R"("resourceVersion":"7","managedFields":[{"manager":"x"}]}})");
  const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "n"}}}});
  const Result<Object> created = client.create(kPods, pod, {.answer = Answer::kMetadataOnly});
  ASSERT_TRUE(created.ok()) << created.error().message();
  EXPECT_EQ(created->json(),
            Json::parse(R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"}})"));
  EXPECT_THAT(*http::find_header(transport.requests[0].headers, "Accept"), HasSubstr("as=PartialObjectMetadata"));
  transport.reply(200, R"({"kind":"Status"})");
  EXPECT_THAT(client.create(kPods, pod, {.answer = Answer::kMetadataOnly}), IsError(ErrorCode::kInternal));
}

}  // namespace
}  // namespace tpuslice::client
