#include "cmd/tpu-slice-operator/request_authorizer.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/fake_reviews.h"

namespace tpuslice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class RequestAuthorizerTest : public ::testing::Test {
 protected:
  RequestAuthorizerTest() {
    reviews_.users = {{"good", "prometheus"}, {"poor", "tenant"}};
    reviews_.readers = {"prometheus"};
    LogOptions log;
    log.clock = &clock_;
    log.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    log_ = Logger(log);
    reset({});
  }
  void reset(RequestAuthorizerOptions options) { authorizer_.emplace(options, reviews_, clock_, log_); }

  static http::Request request(const std::string& authorization) {
    http::Request request;
    request.target = "/metrics?x=1";
    if (!authorization.empty()) request.headers = {{"authorization", authorization}};
    return request;
  }
  int status(const std::string& token, const std::string& host = "10.0.0.1") {
    http::Peer peer;
    peer.address = host + ":4321";
    return authorizer_->authorize(request(token.empty() ? "" : "Bearer " + token), peer).status;
  }

  FakeClock clock_;
  testing::FakeReviews reviews_;
  std::vector<std::string> lines_;
  Logger log_;
  std::optional<RequestAuthorizer> authorizer_;
};

using testing::FakeReviews;

TEST_F(RequestAuthorizerTest, AllowsAUserThatMayGetThePath) {
  EXPECT_EQ(status("good"), 200);
  const std::vector<Json> reviews = reviews_.reviews();
  ASSERT_THAT(reviews, SizeIs(2));
  EXPECT_EQ(reviews[0],
            Json({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", "good"}}}}));
  EXPECT_EQ(reviews[1], Json({{"apiVersion", "authorization.k8s.io/v1"},
                              {"kind", "SubjectAccessReview"},
                              {"spec",
                               {{"user", "prometheus"},
                                {"uid", "u1"},
                                {"groups", {"system:authenticated"}},
                                {"extra", {{"authentication.kubernetes.io/pod-name", {"prometheus-0"}}}},
                                {"nonResourceAttributes", {{"verb", "get"}, {"path", "/metrics"}}}}}}));
}

TEST_F(RequestAuthorizerTest, RefusesOthersAndSaysWhatIsMissing) {
  EXPECT_EQ(status("bad"), 401);
  const auto denied = authorizer_->authorize(request("Bearer poor"), {.address = "10.0.0.1:1"});
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.message,
            "user \"tenant\" cannot get path \"/metrics\"; the ClusterRole tpu-slice-metrics-reader allows it");
}

TEST_F(RequestAuthorizerTest, DoesNotAskTheApiServerWithoutAToken) {
  for (const char* header : {"", "Bearer", "Bearer ", "Basic Z29vZA==", "Bearer good twice", "good"}) {
    EXPECT_EQ(authorizer_->authorize(request(header), {.address = "10.0.0.1:1"}).status, 401) << header;
  }
  EXPECT_EQ(reviews_.count(), 0U);
}

TEST_F(RequestAuthorizerTest, TheSchemeHasNoCase) {
  EXPECT_EQ(authorizer_->authorize(request("bearer  good "), {.address = "10.0.0.1:1"}).status, 200);
}

TEST_F(RequestAuthorizerTest, CachesDecisionsForAWhile) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status("good"), 200);
  EXPECT_EQ(reviews_.count(), 2U);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status("bad"), 401);
  EXPECT_EQ(reviews_.count(), 3U);

  reviews_.readers = {"prometheus", "tenant"};
  EXPECT_EQ(status("poor"), 200);
  reviews_.readers = {};
  clock_.advance(59s);
  EXPECT_EQ(status("good"), 200) << "cached";
  clock_.advance(1s);
  EXPECT_EQ(status("good"), 403) << "the permission was withdrawn";
  reviews_.readers = {"prometheus"};
  clock_.advance(9s);
  EXPECT_EQ(status("good"), 403) << "cached";
  clock_.advance(1s);
  EXPECT_EQ(status("good"), 200) << "the permission was granted";
}

TEST_F(RequestAuthorizerTest, ADecisionIsForOneVerbAndPath) {
  EXPECT_EQ(status("good"), 200);
  http::Request other = request("Bearer good");
  other.target = "/debug";
  EXPECT_EQ(authorizer_->authorize(other, {.address = "10.0.0.1:1"}).status, 403);
}

TEST_F(RequestAuthorizerTest, FailsClosedAndDoesNotCacheErrors) {
  reviews_.error = Error::of(ErrorCode::kForbidden, "create tokenreviews: forbidden");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status("good"), 503);
  EXPECT_THAT(lines_, SizeIs(3)) << "not one line for every request";
  EXPECT_THAT(lines_.front(), HasSubstr("create tokenreviews: forbidden"));
  EXPECT_THAT(lines_.front(), Not(HasSubstr("good"))) << "tokens are not logged";
  reviews_.error = std::nullopt;
  clock_.advance(2s);
  EXPECT_EQ(status("good"), 200);
}

TEST_F(RequestAuthorizerTest, AFloodOfTokensOfOnePeerIsNotAFloodOfReviews) {
  int reviewed = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (i % 100 == 0) clock_.advance(1s);
    if (status("guess-" + std::to_string(i)) == 401) ++reviewed;
  }
  // Five at once, and one every two seconds, in 100 seconds.
  EXPECT_GE(reviewed, 50);
  EXPECT_LE(reviewed, 55);
  EXPECT_EQ(reviews_.count(), static_cast<std::size_t>(reviewed));
  EXPECT_EQ(status("good", "10.0.0.2"), 200) << "other peers are served";
}

TEST_F(RequestAuthorizerTest, AFloodOfManyPeersDoesNotKeepOutAKnownToken) {
  ASSERT_EQ(status("good", "10.0.0.2"), 200);
  clock_.advance(61s);
  const std::size_t before = reviews_.count();
  for (int i = 0; i < 10'000; ++i) status("guess-" + std::to_string(i), "10.1." + std::to_string(i) + ".1");
  EXPECT_LE(reviews_.count() - before, 20U);
  EXPECT_EQ(status("good", "10.0.0.2"), 200);
  clock_.advance(61s);
  EXPECT_EQ(status("good", "10.0.0.2"), 200);
}

TEST_F(RequestAuthorizerTest, AFloodDoesNotKeepOutARenewedTokenOfAKnownHost) {
  ASSERT_EQ(status("poor", "10.0.0.2"), 403);
  ASSERT_EQ(status("good", "10.0.0.2"), 200);
  clock_.advance(61s);
  for (int i = 0; i < 1'000; ++i) status("guess-" + std::to_string(i), "10.1." + std::to_string(i) + ".1");
  EXPECT_EQ(status("guess", "10.0.0.3"), 503) << "the limit of unknown tokens is used up";
  EXPECT_EQ(status("poor", "10.0.0.2"), 403) << "reviewed as another token of a host from which one was allowed";
}

TEST_F(RequestAuthorizerTest, KeepsKnownTokensWhenItsCacheIsFull) {
  reset(
      {.denied_ttl = 10min, .max_decisions = 4, .unknown_per_second = 1000, .unknown_burst = 1000, .peer_burst = 1000});
  ASSERT_EQ(status("good"), 200);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(status("guess-" + std::to_string(i), "10.0.0.9"), 401);
  const std::size_t before = reviews_.count();
  EXPECT_EQ(status("good"), 200);
  EXPECT_EQ(status("guess-99", "10.0.0.9"), 401);
  EXPECT_EQ(reviews_.count(), before) << "both are cached";
  EXPECT_EQ(status("guess-0", "10.0.0.9"), 401);
  EXPECT_EQ(reviews_.count(), before + 1) << "removed for others";
}

/// Reviews do not end before the test ends them.
class SlowReviews : public RequestAuthorizerTest {
 protected:
  SlowReviews() {
    reviews_.on_review = [this](const std::stop_token& stop) {
      ++waiting_;
      while (!open_ && !stop.stop_requested()) pause(1ms, {});
    };
  }
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> open_ = false;
};

TEST_F(SlowReviews, AreLimitedInNumber) {
  std::jthread unknown([this] { EXPECT_EQ(status("good"), 200); });
  ASSERT_TRUE(testing::eventually([&] { return waiting_ == 1; }));
  EXPECT_EQ(status("poor"), 503);
  EXPECT_EQ(waiting_, 1);
  open_ = true;
}

TEST_F(SlowReviews, DoNotDelayCachedDecisionsNorReviewsOfKnownTokens) {
  open_ = true;
  ASSERT_EQ(status("good"), 200);
  open_ = false;
  waiting_ = 0;
  std::jthread unknown([this] { EXPECT_EQ(status("poor"), 403); });
  ASSERT_TRUE(testing::eventually([&] { return waiting_ == 1; }));
  EXPECT_EQ(status("good"), 200) << "cached";
  clock_.advance(61s);
  std::jthread known([this] { EXPECT_EQ(status("good"), 200); });
  ASSERT_TRUE(testing::eventually([&] { return waiting_ == 2; }));
  open_ = true;
}

TEST_F(SlowReviews, EndWhenTheServerStops) {
  std::jthread waiting([this] { EXPECT_EQ(status("good"), 503); });
  ASSERT_TRUE(testing::eventually([&] { return waiting_ == 1; }));
  authorizer_->stop();
  waiting.join();
  EXPECT_EQ(status("poor"), 503);
  EXPECT_THAT(lines_, SizeIs(0)) << "a stop is not an error";
}

}  // namespace
}  // namespace tpuslice
