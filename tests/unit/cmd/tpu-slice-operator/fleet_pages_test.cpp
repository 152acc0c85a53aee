#include "cmd/tpu-slice-operator/fleet_pages.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/client/gunzip.h"
#include "cmd/tpu-slice-operator/fleet_stream.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fake_reviews.h"
#include "tests/support/slice/slices.h"

namespace tpuslice {
namespace {

using namespace std::chrono_literals;
using slice::a_pool;
using slice::a_slice;
using slice::after;
using ::testing::ElementsAre;
using testing::FakeReviews;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSnapshot = "/fleet/v1/snapshot";
constexpr const char* kHistory = "/fleet/v1/history";

class FleetPagesTest : public ::testing::Test {
 protected:
  FleetPagesTest() {
    snapshot_.time = after(1h);
    snapshot_.nodes = slice::nodes_of({a_pool("pool-a")});
    snapshot_.pods = slice::pods_of({a_slice("train").in("ml").runs_in("pool-a"), a_slice("next").in("nlp")});
    for (const char* space : {"ml", "nlp"}) {
      fleet::HistoryRecord record;
      record.time = after(30min);
      record.namespace_name = space;
      record.name = std::string("job-of-") + space;
      record.what = "TornDown";
      record.node = "pool-a-1";
      record.why = "pod train-1 failed on node pool-a-1";
      snapshot_.history.push_back(record);
    }
    reviews_.lists = {{"admin", "pods", ""}, {"admin", "nodes", ""}, {"tenant", "pods", "ml"}};
  }
  http::Reply get(const std::string& target, const std::string& user = "admin", http::Headers headers = {}) {
    const auto pages = pages_.pages();
    const auto page = pages.find(target.substr(0, target.find('?')));
    return page->second.reply({.target = target, .headers = std::move(headers)}, Json{{"user", user}});
  }
  Json json(const std::string& target, const std::string& user = "admin") {
    return parse_json(get(target, user).response.body).value_or(Json());
  }

  FakeClock clock_;
  FakeReviews reviews_;
  fleet::Snapshot snapshot_;
  int taken_ = 0;
  std::optional<Error> error_;
  ResourceAccess access_{{}, reviews_, clock_};
  FleetPages pages_{[this]() -> Result<fleet::Snapshot> {
                      ++taken_;
                      if (error_) return *error_;
                      return snapshot_;
                    },
                    access_, clock_};
};

TEST_F(FleetPagesTest, ShowAllToWhoMayListAllPods) {
  const http::Reply reply = get(kSnapshot);
  EXPECT_EQ(reply.response.status, 200);
  EXPECT_EQ(*http::find_header(reply.response.headers, "Content-Type"), "application/json");
  const Json fleet = json(kSnapshot);
  EXPECT_EQ(fleet["schema"], "tpuslice.dev/fleet.v1");
  EXPECT_EQ(fleet["pools"][0]["users"][0]["namespace"], "ml");
  EXPECT_THAT(fleet["slices"].dump(), HasSubstr("nlp"));
  EXPECT_FALSE(fleet["pools"][0].contains("nodes"));
  EXPECT_EQ(json("/fleet/v1/snapshot?nodes=1")["pools"][0]["nodes"], Json({"pool-a-0", "pool-a-1"}));
  EXPECT_EQ(json(kHistory)["records"].size(), 2U);
  EXPECT_EQ(json(kHistory)["records"][0]["node"], "pool-a-1");
}

TEST_F(FleetPagesTest, ShowNoNamesOfNamespacesThatTheUserMayNotRead) {
  const Json fleet = json("/fleet/v1/snapshot?namespace=ml&namespace=nlp&nodes=1", "tenant");
  EXPECT_EQ(fleet["pools"][0]["users"][0]["namespace"], "ml");
  EXPECT_EQ(fleet["slices"].size(), 2U);
  EXPECT_THAT(fleet.dump(), Not(HasSubstr("nlp")));
  EXPECT_THAT(fleet.dump(), Not(HasSubstr("pool-a-0"))) << "it may not list nodes";
  const Json history = json("/fleet/v1/history?namespace=ml&namespace=nlp", "tenant");
  ASSERT_EQ(history["records"].size(), 1U);
  EXPECT_EQ(history["records"][0]["name"], "job-of-ml");
  EXPECT_FALSE(history["records"][0].contains("node"));
  EXPECT_EQ(history["records"][0]["why"], "pod train-1 failed on node pool-a-1") << "it interrupted its own slice";
}

TEST_F(FleetPagesTest, ShowNamesOfTheNamespacesOnlyThatAreAskedFor) {
  const std::string text = get(kSnapshot, "tenant").response.body;
  EXPECT_THAT(text, Not(HasSubstr("\"ml\"")));
  EXPECT_THAT(text, HasSubstr("pool-a"));
  EXPECT_EQ(json(kHistory, "unknown")["records"].size(), 0U);
}

TEST_F(FleetPagesTest, ReadTheFleetOnceASecondAndOnlyIfAsked) {
  EXPECT_EQ(taken_, 0);
  for (int request = 0; request < 5; ++request) (void)get(kSnapshot);
  (void)get(kHistory);
  EXPECT_EQ(taken_, 1);
  clock_.advance(999ms);
  (void)get(kSnapshot);
  EXPECT_EQ(taken_, 1);
  clock_.advance(1ms);
  (void)get(kSnapshot);
  EXPECT_EQ(taken_, 2);
}

TEST_F(FleetPagesTest, ReadASlowFleetLessOften) {
  FleetPages pages(
      [this]() -> Result<fleet::Snapshot> {
        ++taken_;
        clock_.advance(500ms);
        return snapshot_;
      },
      access_, clock_);
  (void)pages.snapshot({}, {});
  clock_.advance(4499ms);
  (void)pages.snapshot({}, {});
  EXPECT_EQ(taken_, 1);
  clock_.advance(1ms);
  (void)pages.snapshot({}, {});
  EXPECT_EQ(taken_, 2);
}

TEST_F(FleetPagesTest, AnswerErrors) {
  EXPECT_EQ(get("/fleet/v1/snapshot?namespaces=ml").response.status, 400);
  std::string many = "/fleet/v1/history?";
  for (int i = 0; i < 11; ++i) many += "namespace=a&";
  EXPECT_EQ(get(many).response.status, 400);
  EXPECT_EQ(get("/fleet/v1/watch?x=1").response.status, 400);
  error_ = Error::unavailable("the stores are not synced yet; try again later");
  const http::Reply reply = get(kSnapshot);
  EXPECT_EQ(reply.response.status, 503);
  EXPECT_THAT(reply.response.body, HasSubstr("not synced"));
}

/// Regression: the caller saw less, in a stream for minutes, as if it had no rights.
TEST_F(FleetPagesTest, AnswerNothingIfTheRightsCannotBeReviewed) {
  reviews_.error = Error::unavailable("no answer");
  for (const char* page : {kSnapshot, kHistory, "/fleet/v1/watch"}) {
    const http::Reply reply = get(std::string(page) + "?namespace=ml&namespace=nlp");
    EXPECT_EQ(reply.response.status, 503) << page;
    EXPECT_EQ(reply.stream, nullptr) << page;
    EXPECT_THAT(reply.response.body, HasSubstr("no answer"));
  }
  EXPECT_EQ(reviews_.count(), 3U) << "the first failure ends each request";
  reviews_.error.reset();
  EXPECT_EQ(json(kHistory)["records"].size(), 2U);
}

/// Regression: a fleet that is too long was written again for each request.
TEST_F(FleetPagesTest, AreWrittenOnceEvenIfTooLong) {
  FleetPages pages([this]() -> Result<fleet::Snapshot> { return snapshot_; }, access_, clock_, {.max_bytes = 100});
  for (int request = 0; request < 3; ++request) EXPECT_THAT(pages.snapshot({}, {}), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(pages.written(), 1U);
}

/// Regression: requests that came at the same time wrote the same snapshot each.
TEST_F(FleetPagesTest, AreWrittenOnceForRequestsAtTheSameTime) {
  for (int i = 0; i < 500; ++i) {
    for (const auto& pod : slice::pods_of({a_slice("next-" + std::to_string(i)).in("nlp")})) {
      snapshot_.pods.push_back(pod);
    }
  }
  std::vector<std::jthread> requests;
  for (int i = 0; i < 8; ++i) requests.emplace_back([this] { EXPECT_TRUE(pages_.snapshot({}, {}).ok()); });
  requests.clear();
  EXPECT_EQ(pages_.written(), 1U);
  EXPECT_EQ(taken_, 1);
}

/// Regression: a lock was held while the fleet was read.
TEST_F(FleetPagesTest, ShowTheLastFleetWhileItIsReadAgain) {
  FleetPages* self = nullptr;
  std::vector<std::string> meanwhile;
  FleetPages pages(
      [&]() -> Result<fleet::Snapshot> {
        if (++taken_ == 2) meanwhile.push_back(self->snapshot({}, {}).value_or("<error>"));
        return snapshot_;
      },
      access_, clock_);
  self = &pages;
  const std::string first = pages.snapshot({}, {}).value_or("");
  clock_.advance(2s);
  snapshot_.time += 2s;
  EXPECT_NE(pages.snapshot({}, {}).value_or(""), first);
  EXPECT_THAT(meanwhile, ElementsAre(first));
  EXPECT_EQ(taken_, 2);
}

TEST_F(FleetPagesTest, AreBounded) {
  FleetPages pages([this]() -> Result<fleet::Snapshot> { return snapshot_; }, access_, clock_, {.max_bytes = 100});
  EXPECT_THAT(pages.snapshot({}, {}), IsError(ErrorCode::kUnavailable, HasSubstr("read it from the API server")));
}

TEST_F(FleetPagesTest, AreCompressedForClientsThatAcceptIt) {
  const std::string plain = get(kSnapshot).response.body;
  ASSERT_GT(plain.size(), 1024U);
  const http::Reply reply = get(kSnapshot, "admin", {{"accept-encoding", "br, gzip;q=0.5"}});
  ASSERT_NE(http::find_header(reply.response.headers, "Content-Encoding"), nullptr);
  EXPECT_LT(reply.response.body.size(), plain.size());
  std::string unpacked;
  EXPECT_EQ(http::gunzip(reply.response.body, 1U << 20U, unpacked), std::nullopt);
  EXPECT_EQ(unpacked, plain);
  for (const char* refused : {"br", "gzip;q=0", "gzip;q=0.0"}) {
    EXPECT_EQ(get(kSnapshot, "admin", {{"Accept-Encoding", refused}}).response.body, plain) << refused;
  }
}

TEST_F(FleetPagesTest, StreamWhatHasChanged) {
  http::Reply reply = get("/fleet/v1/watch");
  ASSERT_NE(reply.stream, nullptr);
  EXPECT_EQ(*http::find_header(reply.response.headers, "Content-Type"), "text/event-stream");
  const auto next = [&] { return reply.stream->read(0s, {}).value_or("<ended>"); };
  EXPECT_THAT(next(), StartsWith("event: fleet\ndata: {"));
  EXPECT_EQ(next(), "");
  clock_.advance(2s);
  snapshot_.time += 2s;
  EXPECT_EQ(next(), "") << "only the time has changed";
  clock_.advance(2s);
  snapshot_.pods = slice::pods_of({a_slice("other").in("ml").runs_in("pool-a")});
  EXPECT_THAT(next(), HasSubstr("other"));
  clock_.advance(15s);
  EXPECT_THAT(next(), StartsWith(": "));
  error_ = Error::unavailable("not now");
  clock_.advance(2s);
  EXPECT_EQ(next(), "event: problem\ndata: not now\n\n");
  clock_.advance(5min);
  EXPECT_EQ(next(), "<ended>");
}

MATCHER_P(Answers, allowed, "") { return arg.ok() && *arg == allowed; }

TEST(ResourceAccess, RemembersDecisionsForAMinute) {
  FakeClock clock;
  FakeReviews reviews;
  reviews.lists = {{"admin", "pods", ""}};
  ResourceAccess access({}, reviews, clock);
  const Json admin = {{"user", "admin"}, {"groups", {"a"}}};
  EXPECT_THAT(access.may_list(admin, {"", "pods", ""}), Answers(true));
  EXPECT_THAT(access.may_list(admin, {"", "pods", ""}), Answers(true));
  EXPECT_EQ(reviews.count(), 1U);
  EXPECT_EQ(reviews.reviews()[0]["spec"], Json::parse(R"({"user": "admin", "groups": ["a"],
                            "resourceAttributes": {"verb": "list", "group": "", "resource": "pods"}})"));
  EXPECT_THAT(access.may_list({{"user", "tenant"}}, {"", "pods", ""}), Answers(false));
  EXPECT_THAT(access.may_list(admin, {"", "pods", "ml"}), Answers(false)) << "another question";
  EXPECT_EQ(reviews.reviews()[2]["spec"]["resourceAttributes"]["namespace"], "ml");
  clock.advance(61s);
  reviews.lists.clear();
  EXPECT_THAT(access.may_list(admin, {"", "pods", ""}), Answers(false));
}

/// Regression: what could not be reviewed was denied.
TEST(ResourceAccess, IsUnavailableIfItCannotBeReviewed) {
  FakeClock clock;
  FakeReviews reviews;
  reviews.lists = {{"admin", "pods", ""}};
  ResourceAccess limited({.per_second = 1, .burst = 1}, reviews, clock);
  const auto may_list = [&](const char* uid) {
    return limited.may_list({{"user", "admin"}, {"uid", uid}}, {"", "pods", ""});
  };
  EXPECT_THAT(may_list("1"), Answers(true));
  EXPECT_THAT(may_list("2"), IsError(ErrorCode::kUnavailable, HasSubstr("too many")));
  clock.advance(2s);
  reviews.error = Error::invalid_argument("no answer");
  EXPECT_THAT(may_list("2"), IsError(ErrorCode::kUnavailable, HasSubstr("no answer")));
  reviews.error.reset();
  clock.advance(2s);
  EXPECT_THAT(may_list("2"), Answers(true)) << "that is not remembered";
  limited.stop();
  clock.advance(2s);
  EXPECT_THAT(may_list("3"), IsError(ErrorCode::kUnavailable, HasSubstr("stops")));
  EXPECT_THAT(may_list("1"), Answers(true)) << "it is remembered";
}

/// Regression: reviews could take all threads of the metrics server.
TEST(ResourceAccess, HasFewReviewsInFlight) {
  FakeClock clock;
  FakeReviews reviews;
  ResourceAccess access({.max_in_flight = 2}, reviews, clock);
  const auto may_list = [&](const std::string& space) { return access.may_list({}, {"", "pods", space}); };
  std::vector<Result<bool>> nested;
  reviews.on_review = [&](const std::stop_token&) {
    if (nested.size() < 2 && reviews.count() <= 2) nested.push_back(may_list(std::to_string(reviews.count())));
  };
  EXPECT_TRUE(may_list("0").ok());
  ASSERT_EQ(nested.size(), 2U);
  EXPECT_THAT(nested[0], IsError(ErrorCode::kUnavailable, HasSubstr("too many"))) << "the third";
  EXPECT_THAT(nested[1], Answers(false));
  EXPECT_THAT(may_list("9"), Answers(false)) << "all have ended";
}

}  // namespace
}  // namespace tpuslice
