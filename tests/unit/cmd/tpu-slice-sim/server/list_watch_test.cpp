// Lists and watches: the contract client-side caches depend on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cmd/tpu-slice-sim/test_server.h"

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const Json& list) {
  std::vector<std::string> found;
  for (const Json& each : list.at("items")) found.push_back(string_at(each, {"metadata", "name"}));
  return found;
}

void create(TestServer& api, std::initializer_list<const char*> list) {
  for (const char* name : list) ASSERT_EQ(api.send("POST", kConfigMapsPath, config_map(name)).status, 201);
}

std::string version(const Json& list) { return string_at(list, {"metadata", "resourceVersion"}); }

TEST(List, ReturnsPagesOfOneRevision) {
  TestServer api;
  create(api, {"a", "b", "c", "d", "e"});
  const Json first = api.json("GET", kConfigMapsPath + "?limit=2");
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first["metadata"]["remainingItemCount"], 3);
  create(api, {"bb"});
  ASSERT_EQ(api.send("DELETE", kConfigMapsPath + "/d").status, 200);
  const std::string next = kConfigMapsPath + "?limit=10&continue=" + string_at(first, {"metadata", "continue"});
  const Json second = api.json("GET", next);
  EXPECT_THAT(names(second), ElementsAre("c", "d", "e"));
  EXPECT_EQ(version(second), version(first));
  EXPECT_EQ(string_at(second, {"metadata", "continue"}), "");
}

TEST(List, RefusesAResourceVersionTogetherWithContinue) {
  TestServer api;
  create(api, {"a", "b"});
  const Json first = api.json("GET", kConfigMapsPath + "?limit=1");
  const std::string next =
      kConfigMapsPath + "?limit=1&resourceVersion=3&continue=" + string_at(first, {"metadata", "continue"});
  EXPECT_EQ(api.send("GET", next).status, 400);
}

TEST(List, OffersAnInconsistentContinuationOnceTheRevisionIsCompacted) {
  TestServer api;
  create(api, {"a", "b", "c"});
  const Json first = api.json("GET", kConfigMapsPath + "?limit=1");
  create(api, {"d"});
  api.storage.compact(api.storage.revision());
  const Json status =
      api.json("GET", kConfigMapsPath + "?limit=5&continue=" + string_at(first, {"metadata", "continue"}));
  EXPECT_EQ(status["code"], 410);
  EXPECT_EQ(string_at(status, {"reason"}), "Expired");
  const Json rest =
      api.json("GET", kConfigMapsPath + "?limit=5&continue=" + string_at(status, {"metadata", "continue"}));
  EXPECT_THAT(names(rest), ElementsAre("b", "c", "d"));
}

TEST(List, ReturnsTheExactRevisionOnRequest) {
  TestServer api;
  create(api, {"a"});
  const std::string then = version(api.json("GET", kConfigMapsPath));
  create(api, {"b"});
  EXPECT_THAT(names(api.json("GET", kConfigMapsPath + "?resourceVersionMatch=Exact&resourceVersion=" + then)),
              ElementsAre("a"));
  EXPECT_THAT(names(api.json("GET", kConfigMapsPath + "?resourceVersion=" + then)), ElementsAre("a", "b"));
  api.storage.compact(api.storage.revision());
  EXPECT_EQ(api.send("GET", kConfigMapsPath + "?resourceVersionMatch=Exact&resourceVersion=" + then).status, 410);
}

TEST(List, RefusesAFutureRevision) {
  TestServer api;
  const http::Response response = api.send("GET", kConfigMapsPath + "?resourceVersion=999999");
  EXPECT_EQ(response.status, 504);
  EXPECT_THAT(response.body, HasSubstr("ResourceVersionTooLarge"));
  ASSERT_NE(http::find_header(response.headers, "Retry-After"), nullptr);
}

TEST(List, SelectsByLabelsAndFields) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kConfigMapsPath, config_map("a", {{"app", "x"}})).status, 201);
  ASSERT_EQ(api.send("POST", kConfigMapsPath, config_map("b", {{"app", "y"}})).status, 201);
  EXPECT_THAT(names(api.json("GET", kConfigMapsPath + "?labelSelector=app%20in%20(x,z)")), ElementsAre("a"));
  EXPECT_THAT(names(api.json("GET", kConfigMapsPath + "?fieldSelector=metadata.name%21%3Da")), ElementsAre("b"));
  const http::Response refused = api.send("GET", kConfigMapsPath + "?fieldSelector=data.k%3D1");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("\\\"data.k\\\" is not a known field selector"));
}

TEST(List, NegotiatesTheResponseForm) {
  TestServer api;
  create(api, {"a"});
  EXPECT_EQ(api.send("GET", kConfigMapsPath, nullptr, "", "application/vnd.kubernetes.protobuf").status, 406);
  EXPECT_EQ(
      api.send("GET", kConfigMapsPath, nullptr, "", "application/vnd.kubernetes.protobuf,application/json").status,
      200);
  const http::Response partial =
      api.send("GET", kConfigMapsPath, nullptr, "", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  const Json list = Json::parse(partial.body);
  EXPECT_EQ(list["kind"], "PartialObjectMetadataList");
  EXPECT_FALSE(list["items"][0].contains("data"));
}

TEST(Watch, SendsTheChangesSinceAList) {
  TestServer api;
  create(api, {"a"});
  const std::string since = version(api.json("GET", kConfigMapsPath));
  const auto stream = api.watch(kConfigMapsPath + "?watch=1&resourceVersion=" + since);
  EXPECT_THAT(TestServer::events(*stream), IsEmpty());
  create(api, {"b"});
  ASSERT_EQ(api.send("PATCH", kConfigMapsPath + "/a", {{"data", {{"k", "2"}}}}, "application/merge-patch+json").status,
            200);
  ASSERT_EQ(api.send("DELETE", kConfigMapsPath + "/b").status, 200);
  EXPECT_THAT(TestServer::events(*stream), ElementsAre("ADDED b", "MODIFIED a", "DELETED b"));
}

TEST(Watch, StartsWithExistingObjectsWithoutARevision) {
  TestServer api;
  create(api, {"a"});
  for (const char* query : {"?watch=1", "?watch=1&resourceVersion=0"}) {
    EXPECT_THAT(TestServer::events(*api.watch(kConfigMapsPath + query)), ElementsAre("ADDED a"));
  }
}

TEST(Watch, StreamsTheInitialListOnRequest) {
  TestServer api;
  create(api, {"a"});
  const std::string query =
      "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  const auto stream = api.watch(kConfigMapsPath + query);
  const auto text = stream->read(Duration::zero(), {});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"));
  create(api, {"b"});
  EXPECT_THAT(TestServer::events(*stream), ElementsAre("ADDED b"));
  EXPECT_EQ(api.send("GET", kConfigMapsPath + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true").status, 422);
}

TEST(Watch, SendsAddedAndDeletedWhenAnObjectStartsAndStopsMatching) {
  TestServer api;
  const auto stream = api.watch(kConfigMapsPath + "?watch=1&labelSelector=app%3Dx");
  create(api, {"a"});
  EXPECT_THAT(TestServer::events(*stream), IsEmpty());
  const auto label = [&api](const Json& value) {
    const Json patch = {{"metadata", {{"labels", {{"app", value}}}}}};
    ASSERT_EQ(api.send("PATCH", kConfigMapsPath + "/a", patch, "application/merge-patch+json").status, 200);
  };
  label("x");
  EXPECT_THAT(TestServer::events(*stream), ElementsAre("ADDED a"));
  label("y");
  EXPECT_THAT(TestServer::events(*stream), ElementsAre("DELETED a"));
}

TEST(Watch, SendsAnErrorEventForACompactedRevision) {
  TestServer api;
  create(api, {"a", "b"});
  api.storage.compact(api.storage.revision());
  const auto stream = api.watch(kConfigMapsPath + "?watch=1&resourceVersion=2");
  EXPECT_EQ(stream->status(), 200);
  EXPECT_THAT(TestServer::events(*stream), ElementsAre("ERROR 410", "END"));
}

TEST(Watch, SendsNothingBeforeAFutureRevision) {
  TestServer api;
  const auto stream = api.watch(kConfigMapsPath + "?watch=1&resourceVersion=999999");
  create(api, {"a"});
  EXPECT_THAT(TestServer::events(*stream), IsEmpty());
}

TEST(Watch, SendsBookmarksIfAllowed) {
  TestServer api;
  const auto marked = api.watch(kConfigMapsPath + "?watch=1&allowWatchBookmarks=true");
  const auto plain = api.watch(kConfigMapsPath + "?watch=1");
  ASSERT_EQ(api.send("POST", kPodsPath, pod("p")).status, 201);
  api.clock.advance(std::chrono::seconds(61));
  EXPECT_THAT(TestServer::events(*marked), ElementsAre("BOOKMARK " + std::to_string(api.storage.revision())));
  EXPECT_THAT(TestServer::events(*plain), IsEmpty());
}

TEST(Watch, ClosesAfterItsTimeout) {
  TestServer api;
  const auto stream = api.watch(kConfigMapsPath + "?watch=1&timeoutSeconds=10");
  api.clock.advance(std::chrono::seconds(10));
  EXPECT_THAT(TestServer::events(*stream), ElementsAre("END"));
}

TEST(Watch, SendsTheColumnsOfATableOnce) {
  TestServer api;
  create(api, {"a", "b"});
  const http::Request request = TestServer::request("GET", kConfigMapsPath + "?watch=1", nullptr, "",
                                                    "application/json;as=Table;v=v1;g=meta.k8s.io");
  const auto stream = *api.transport.open(request, std::chrono::seconds(1), {});
  const auto text = stream->read(Duration::zero(), {});
  ASSERT_TRUE(text.ok());
  const std::size_t end = text->find('\n');
  const Json first = Json::parse(text->substr(0, end))["object"];
  const Json second = Json::parse(text->substr(end + 1))["object"];
  EXPECT_EQ(first["columnDefinitions"].size(), 3U);
  EXPECT_EQ(second["columnDefinitions"].size(), 0U);
  EXPECT_EQ(second["rows"][0]["cells"][0], "b");
}

TEST(DeleteCollection, DeletesTheSelectedObjects) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kConfigMapsPath, config_map("a", {{"app", "x"}})).status, 201);
  ASSERT_EQ(api.send("POST", kConfigMapsPath, config_map("b", {{"app", "y"}})).status, 201);
  EXPECT_THAT(names(api.json("DELETE", kConfigMapsPath + "?labelSelector=app%3Dx")), ElementsAre("a"));
  EXPECT_THAT(names(api.json("GET", kConfigMapsPath)), ElementsAre("b"));
}

}  // namespace
}  // namespace tpuslice::sim
