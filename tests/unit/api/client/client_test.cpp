#include "api/client/client.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TextStream final : public http::Stream {
 public:
  explicit TextStream(http::Response response) : response_(std::move(response)) {}
  [[nodiscard]] int status() const override { return response_.status; }
  [[nodiscard]] const http::Headers& headers() const override { return response_.headers; }
  Result<std::string> read(Duration, std::stop_token) override {
    if (response_.body.empty()) return http::end_of_stream();
    return std::exchange(response_.body, {});
  }

 private:
  http::Response response_;
};

/// Answers what it was told to and remembers what it was asked.
class ScriptedTransport final : public http::Transport {
 public:
  Result<http::Response> call(const http::Request& request, Duration, std::stop_token) override {
    requests.push_back(request);
    return next();
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration, std::stop_token) override {
    requests.push_back(request);
    ASSIGN_OR_RETURN(http::Response response, next());
    return std::unique_ptr<http::Stream>(std::make_unique<TextStream>(std::move(response)));
  }
  void answer(int status, std::string body) { answers.emplace_back(http::Response{status, {}, std::move(body)}); }

  std::vector<http::Request> requests;
  std::deque<Result<http::Response>> answers;

 private:
  Result<http::Response> next() {
    Result<http::Response> out = answers.front();
    answers.pop_front();
    return out;
  }
};

class ClientTest : public ::testing::Test {
 protected:
  ScriptedTransport transport;
  Client client{transport, {.user_agent = "tester", .field_manager = "me"}};
};

TEST_F(ClientTest, GetReturnsTheObject) {
  transport.answer(200, R"({"metadata":{"name":"a","namespace":"ns"}})");
  EXPECT_EQ(client.get(kPods, {"ns", "a"}).value().name(), "a");
  EXPECT_EQ(*http::find_header(transport.requests[0].headers, "user-agent"), "tester");
}

TEST_F(ClientTest, ErrorsSayWhatWasAsked) {
  transport.answer(404, R"({"kind":"Status","code":404,"reason":"NotFound","message":"pods \"a\" not found"})");
  const auto gone = client.get(kPods, {"ns", "a"});
  EXPECT_EQ(gone.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(gone.error().message(), "get pods ns/a: pods \"a\" not found");
}

TEST_F(ClientTest, ErrorsOfTheTransportKeepTheirCode) {
  transport.answers.emplace_back(Error(ErrorCode::kTimeout, "no answer"));
  EXPECT_EQ(client.get(kPods, {"ns", "a"}).error().code(), ErrorCode::kTimeout);
}

TEST_F(ClientTest, NeverRetries) {
  transport.answer(500, "");
  EXPECT_FALSE(client.get(kPods, {"ns", "a"}).ok());
  EXPECT_EQ(transport.requests.size(), 1U);
}

TEST_F(ClientTest, AnswersThatAreNoJsonAreErrors) {
  transport.answer(200, "<html>");
  EXPECT_EQ(client.get(kPods, {"ns", "a"}).error().code(), ErrorCode::kInternal);
}

TEST_F(ClientTest, ListReturnsItemsAsTheyAre) {
  transport.answer(
      200, R"({"metadata":{"resourceVersion":"5","continue":"c","remainingItemCount":3},"items":[{"a":1},{ }]})");
  const ListPage page = client.list(kPods, {.limit = 2}).value();
  EXPECT_THAT(page.items, ElementsAre(R"({"a":1})", "{ }"));
  EXPECT_EQ(page.resource_version, "5");
  EXPECT_EQ(page.continue_token, "c");
  EXPECT_EQ(page.remaining, 3);
}

TEST_F(ClientTest, WritesCarryTheFieldManager) {
  for (int i = 0; i < 3; ++i) transport.answer(200, "{}");
  const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}}}});
  ASSERT_TRUE(client.create(kPods, pod).ok());
  ASSERT_TRUE(client.patch(kPods, {"ns", "a"}, PatchType::kMerge, Json::object()).ok());
  ASSERT_TRUE(client.replace(kPods, pod).ok());
  EXPECT_EQ(transport.requests[0].target, "/api/v1/namespaces/ns/pods?fieldManager=me");
  EXPECT_EQ(transport.requests[1].target, "/api/v1/namespaces/ns/pods/a?fieldManager=me");
  EXPECT_EQ(transport.requests[2].method, "PUT");
}

TEST_F(ClientTest, StatusIsPatchedAtItsSubresource) {
  transport.answer(200, "{}");
  ASSERT_TRUE(client.update_status(kPods, {"ns", "a"}, Json{{"phase", "x"}}, {.resource_version = "4"}).ok());
  EXPECT_EQ(transport.requests[0].target, "/api/v1/namespaces/ns/pods/a/status?fieldManager=me");
  EXPECT_EQ(transport.requests[0].body, R"({"metadata":{"resourceVersion":"4"},"status":{"phase":"x"}})");
}

TEST_F(ClientTest, RemoveReportsAFailedPrecondition) {
  transport.answer(409, R"({"kind":"Status","code":409,"reason":"Conflict","message":"uid differs"})");
  EXPECT_EQ(client.remove(kPods, {"ns", "a"}, {.uid = "u"}).error().code(), ErrorCode::kConflict);
}

TEST_F(ClientTest, WatchHandsOutEvents) {
  transport.answer(200, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n");
  const auto watch = client.watch(kPods, {.resource_version = "5"}).value();
  EXPECT_EQ(watch->next(Duration::zero(), {}).value()->key.name, "a");
  EXPECT_TRUE(http::is_end_of_stream(watch->next(Duration::zero(), {}).error()));
}

TEST_F(ClientTest, RefusedWatchesAreErrors) {
  transport.answer(410, R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
  const auto refused = client.watch(kPods, {.resource_version = "5"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::kExpired);
  EXPECT_THAT(refused.error().message(), HasSubstr("watch pods: too old"));
}

TEST(Client, AsksForAReceiptAndReadsNoMore) {
  ScriptedTransport transport;
  Client client(transport);
  transport.answer(201, R"({"kind":"PartialObjectMetadata","metadata":{"name":"a","namespace":"n","uid":"u",)"
                        R"("resourceVersion":"7","managedFields":[{"manager":"x"}]}})");
  const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "n"}}}});
  const Result<Object> created = client.create(kPods, pod, {.answer = Answer::kReceipt});
  ASSERT_TRUE(created.ok()) << created.error().message();
  EXPECT_EQ(created->json(),
            Json::parse(R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"}})"));
  EXPECT_THAT(*http::find_header(transport.requests[0].headers, "Accept"), HasSubstr("as=PartialObjectMetadata"));
  transport.answer(200, R"({"kind":"Status"})");
  EXPECT_EQ(client.create(kPods, pod, {.answer = Answer::kReceipt}).error().code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace tpuslice::client
