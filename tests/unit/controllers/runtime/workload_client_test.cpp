#include "controllers/runtime/workload_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "api/base/base64.h"
#include "api/base/clock.h"
#include "api/base/pause.h"
#include "tests/support/error_matchers.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_api.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using plan::WorkloadRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json keep_body(int, const std::string& body) { return body; }

WorkloadRequest get_status(std::string name = "job") {
  WorkloadRequest out;
  out.name = std::move(name);
  out.address = "10.0.0.7:8265";
  out.host = "train-head-svc.default.svc";
  out.target = "/status";
  out.interval = 3s;
  out.read = keep_body;
  return out;
}

WorkloadRequest post(std::int64_t attempt = 0) {
  WorkloadRequest out = get_status("submit");
  out.method = "POST";
  out.body = "{}";
  out.interval = {};
  out.attempt = attempt;
  return out;
}

class WorkloadClientTest : public ::testing::Test {
 protected:
  WorkloadClientTest() { make({}); }

  void make(WorkloadClientOptions options) {
    client_ = std::make_unique<WorkloadClient>(
        [this](const std::string& address, const http::Request& request, Duration, const std::stop_token&) {
          sent_.push_back(request.method + " " + address + request.target);
          headers_ = request.headers;
          may_send_ = request.may_send;
          if (during_) during_();
          return reply_;
        },
        api_, clock_, metrics_, options);
    client_->on_answer("jobs", [this](const ObjectKey& key) { news_.push_back(key.to_string()); });
  }

  /// Sends all that is due.
  void settle() {
    while (client_->step(clock_.now(), {})) {
    }
  }
  [[nodiscard]] const plan::WorkloadAnswer* answer(const WorkloadRequest& request) {
    answers_ = client_->answers(owner_);
    return answers_.to(request);
  }

  FakeClock clock_;
  const Instant start_ = clock_.now();
  Metrics metrics_;
  testing::FakeApi api_;
  const WorkloadOwner owner_{"jobs", {"default", "train"}};
  Result<http::Response> reply_ = http::Response{200, {}, "RUNNING"};
  std::function<void()> during_;  ///< Called while a request is under way.
  std::unique_ptr<WorkloadClient> client_;
  std::vector<std::string> sent_;
  http::Headers headers_;
  std::function<bool()> may_send_;  ///< Of the last request.
  std::vector<std::string> news_;
  plan::WorkloadAnswers answers_;
};

TEST_F(WorkloadClientTest, SendsARequestOnce) {
  client_->set(owner_, {post()});
  settle();
  clock_.advance(1h);
  settle();
  client_->set(owner_, {post()});
  settle();
  EXPECT_THAT(sent_, ElementsAre("POST 10.0.0.7:8265/status"));
  ASSERT_NE(answer(post()), nullptr);
  EXPECT_EQ(answer(post())->status, 200);
  EXPECT_EQ(answer(post())->content, "RUNNING");
  EXPECT_EQ(*http::find_header(headers_, "Host"), "train-head-svc.default.svc");
}

TEST_F(WorkloadClientTest, CountsResultsFromZero) {
  for (const char* result : {"no_answer", "success", "refused", "server_error"}) {
    EXPECT_THAT(metrics_.scrape(), HasSubstr(fmt::format("tpuslice_workload_requests_total{{controller=\"jobs\","
                                                         "result=\"{}\"}} 0\n",
                                                         result)));
  }
}

/// Regression: an answer that the reader could not bear ended the process.
TEST_F(WorkloadClientTest, AnAnswerWhoseReaderThrowsIsNoAnswer) {
  WorkloadRequest request = get_status();
  request.read = [](int, const std::string& body) -> Json {
    if (body == "BAD") throw std::runtime_error("unexpected body");
    return body;
  };
  reply_ = http::Response{200, {}, "BAD"};
  client_->set(owner_, {request});
  settle();
  ASSERT_NE(answer(request), nullptr);
  EXPECT_EQ(answer(request)->status, 0);
  EXPECT_THAT(answer(request)->error, HasSubstr("unexpected body"));
  reply_ = http::Response{200, {}, "RUNNING"};
  clock_.advance(1min);
  settle();
  EXPECT_EQ(answer(request)->content, "RUNNING") << "it is sent again";
}

// A leader that was paused for longer than its lease has requests in its queue that its successor has sent, or that
// are no longer wanted.
TEST_F(WorkloadClientTest, SendsOnlyReadsWhenThisReplicaNoLongerLeads) {
  bool leads = true;
  make({.may_send = [&](const std::string& controller) { return controller == "jobs" && leads; }});
  client_->set(owner_, {post(), get_status()});
  leads = false;
  settle();
  EXPECT_THAT(sent_, ElementsAre("GET 10.0.0.7:8265/status"));
  EXPECT_EQ(answer(post()), nullptr) << "a request that was not sent has no answer";
}

TEST_F(WorkloadClientTest, AsksRightBeforeARequestIsSentWhetherItMayBe) {
  bool leads = true;
  make({.may_send = [&](const std::string&) { return leads; }});
  reply_ = Error::of(ErrorCode::kCancelled, "not sent any more");
  during_ = [&] { leads = false; };  // As while the transport connects.
  client_->set(owner_, {post()});
  settle();
  ASSERT_TRUE(may_send_);
  EXPECT_FALSE(may_send_());
  EXPECT_EQ(answer(post()), nullptr);
  EXPECT_THAT(news_, IsEmpty());
}

TEST_F(WorkloadClientTest, SendsWhatItForgotWhenItIsPlannedAgain) {
  client_->set(owner_, {post(), get_status()});
  settle();
  client_->forget("job");
  EXPECT_NE(answer(post()), nullptr) << "of another controller";
  client_->forget("jobs");
  EXPECT_EQ(answer(post()), nullptr);
  clock_.advance(1h);
  settle();
  EXPECT_EQ(sent_.size(), 2U);
  client_->set(owner_, {post()});
  settle();
  EXPECT_EQ(sent_.size(), 3U);
}

TEST_F(WorkloadClientTest, SendsAnotherAttempt) {
  client_->set(owner_, {post()});
  settle();
  client_->set(owner_, {post(1)});
  EXPECT_EQ(answer(post(1)), nullptr) << "the answer is that of the first attempt";
  EXPECT_NE(answers_.last("submit"), nullptr);
  settle();
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_NE(answer(post(1)), nullptr);
}

TEST_F(WorkloadClientTest, RepeatsARequestAndReportsChangedAnswersOnly) {
  client_->set(owner_, {get_status()});
  settle();
  EXPECT_THAT(news_, ElementsAre("default/train"));
  clock_.advance(3s);
  settle();
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_EQ(news_.size(), 1U) << "the answer is the same";
  EXPECT_EQ(answer(get_status())->received, clock_.wall());
  reply_ = http::Response{200, {}, "SUCCEEDED"};
  clock_.advance(3s);
  settle();
  EXPECT_EQ(news_.size(), 2U);
}

TEST_F(WorkloadClientTest, FailingRequestsAreRepeatedLessOften) {
  reply_ = Error::unavailable("refused");
  client_->set(owner_, {get_status()});
  std::vector<std::size_t> sent;
  for (const auto second : {0, 3, 6, 9, 21, 45, 75, 105}) {
    clock_.advance(std::chrono::seconds(second) - (clock_.now() - start_));
    settle();
    sent.push_back(sent_.size());
  }
  // After 3, 6, 12, 24, 30 and 30 s.
  EXPECT_THAT(sent, ElementsAre(1, 2, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(answer(get_status())->error, HasSubstr("refused"));
  EXPECT_EQ(news_.size(), 1U);
  reply_ = http::Response{200, {}, "RUNNING"};
  clock_.advance(30s);
  settle();
  EXPECT_EQ(news_.size(), 2U);
  EXPECT_EQ(client_->next_due(), clock_.now() + 3s);
}

TEST_F(WorkloadClientTest, WithdrawnRequestsAreForgotten) {
  client_->set(owner_, {get_status(), post()});
  settle();
  client_->set(owner_, {post()});
  EXPECT_EQ(answer(get_status()), nullptr);
  EXPECT_NE(answer(post()), nullptr);
  client_->set(owner_, {});
  EXPECT_EQ(answer(post()), nullptr);
  clock_.advance(1h);
  settle();
  EXPECT_EQ(sent_.size(), 2U);
}

TEST_F(WorkloadClientTest, ARequestThatIsReplacedMeanwhileIsSentAfterIt) {
  client_->set(owner_, {post()});
  during_ = [this] {
    during_ = nullptr;
    client_->set(owner_, {post(1)});
    EXPECT_FALSE(client_->step(clock_.now(), {})) << "one at a time";
  };
  settle();
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_NE(answer(post(1)), nullptr);
  EXPECT_EQ(news_.size(), 1U) << "the first answer was not asked for";
}

TEST_F(WorkloadClientTest, ANamespaceHasAShare) {
  make({.per_namespace = 1});
  const WorkloadOwner neighbour{"jobs", {"default", "eval"}};
  const WorkloadOwner other{"jobs", {"other", "train"}};
  client_->set(owner_, {post()});
  client_->set(neighbour, {post()});
  client_->set(other, {post()});
  std::vector<std::string> meanwhile;
  during_ = [&] {
    during_ = nullptr;
    settle();
    for (const std::string& key : news_) meanwhile.push_back(key);
  };
  settle();
  EXPECT_EQ(meanwhile.size(), 1U) << "only the other namespace is served";
  EXPECT_EQ(sent_.size(), 3U);
}

/// Regression: a finished request woke a request that was withdrawn meanwhile, and none of those behind it.
TEST_F(WorkloadClientTest, RequestsThatWaitForTheirShareAreSentIfThoseBeforeThemAreWithdrawn) {
  make({.per_namespace = 1});
  const auto owner = [](int i) { return WorkloadOwner{"jobs", {"default", std::to_string(i)}}; };
  for (int i = 0; i < 6; ++i) client_->set(owner(i), {post(i)});
  during_ = [&] {
    during_ = nullptr;
    settle();  // The others wait.
    for (int i = 1; i < 5; ++i) client_->set(owner(i), {});
  };
  settle();
  EXPECT_EQ(sent_.size(), 2U) << "the first one, and the one that was not withdrawn";
  EXPECT_FALSE(client_->answers(owner(5)).last("submit") == nullptr);
}

TEST_F(WorkloadClientTest, ARequestThatIsWithdrawnOnceItIsWokenWakesTheNext) {
  make({.per_namespace = 1});
  const auto owner = [](int i) { return WorkloadOwner{"jobs", {"default", std::to_string(i)}}; };
  for (int i = 0; i < 3; ++i) client_->set(owner(i), {post(i)});
  during_ = [&] {
    during_ = nullptr;
    settle();
  };
  ASSERT_TRUE(client_->step(clock_.now(), {}));  // The second one is woken.
  client_->set(owner(1), {});
  settle();
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_NE(client_->answers(owner(2)).last("submit"), nullptr);
}

TEST_F(WorkloadClientTest, ARequestThatWaitedForItsShareIsSentOnce) {
  make({.per_namespace = 1});
  const WorkloadOwner neighbour{"jobs", {"default", "eval"}};
  client_->set(neighbour, {post()});
  client_->set(owner_, {post()});
  during_ = [this] {
    during_ = nullptr;
    client_->step(clock_.now(), {});
    EXPECT_EQ(sent_.size(), 1U);
    client_->set(owner_, {post(1)});
    client_->set(WorkloadOwner{"jobs", {"default", "eval"}}, {post(1)});
  };
  settle();
  EXPECT_EQ(sent_.size(), 3U) << "the first of one object, and the second attempt of both";
}

TEST_F(WorkloadClientTest, SendsTheTokenOfASecret) {
  WorkloadRequest request = get_status();
  request.token = {"train", "auth_token"};
  client_->set(owner_, {request});
  settle();
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(answer(request)->error, HasSubstr("train"));
  api_.put(kSecrets, Object({{"apiVersion", "v1"},
                             {"kind", "Secret"},
                             {"metadata", {{"name", "train"}, {"namespace", "default"}}},
                             {"data", {{"auth_token", encode_base64("s3cret")}}}}));
  clock_.advance(3s);
  settle();
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(*http::find_header(headers_, "Authorization"), "Bearer s3cret");
}

TEST_F(WorkloadClientTest, AnObjectHasAtMostSoManyRequests) {
  make({.max_requests = 2});
  client_->set(owner_, {get_status("a"), get_status("b"), get_status("c")});
  settle();
  EXPECT_EQ(sent_.size(), 2U);
}

TEST(WorkloadClientThreads, KeepToTheSharesAndSendEachAttemptOnce) {
  constexpr int kObjects = 30;
  constexpr int kAttempts = 20;
  const RealClock clock;
  Metrics metrics;
  testing::FakeApi api;
  std::atomic<int> under_way = 0;
  std::atomic<int> most = 0;
  std::atomic<int> sent = 0;
  WorkloadClient client(
      [&](const std::string&, const http::Request&, Duration, const std::stop_token&) {
        const int now = ++under_way;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        pause(1ms, {});
        --under_way;
        ++sent;
        return http::Response{200, {}, ""};
      },
      api, clock, metrics, {.per_namespace = 2});
  std::vector<std::jthread> workers;
  for (int i = 0; i < 8; ++i) workers.emplace_back([&](const std::stop_token& stop) { client.run(stop); });
  const auto owner = [](int i) { return WorkloadOwner{"jobs", {"default", "job-" + std::to_string(i)}}; };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (int i = 0; i < kObjects; ++i) client.set(owner(i), {post(attempt)});
    EXPECT_TRUE(testing::eventually(
        [&] {
          for (int i = 0; i < kObjects; ++i) {
            if (client.answers(owner(i)).to(post(attempt)) == nullptr) return false;
          }
          return true;
        },
        20s));
  }
  for (int i = 0; i < kObjects; ++i) client.set(owner(i), {});
  workers.clear();
  EXPECT_EQ(sent, kObjects * kAttempts);
  EXPECT_LE(most, 2) << "all are of one namespace";
}

TEST(SendOverNetwork, ConnectsToNoLocalAddress) {
  for (const char* address :
       {"127.0.0.1:80", "127.1:80", "169.254.169.254:80", "localhost:80", "0.0.0.0:80", "[::1]:80", "[0:0::1]:80",
        "[::]:80", "[::ffff:127.0.0.1]:80", "[::ffff:169.254.169.254]:80", "[fe80::1]:80", "[febf::1]:80",
        "[::127.0.0.1]:80", "[64:ff9b::a9fe:a9fe]:80", "[ff02::1]:80", "224.0.0.1:80", "255.255.255.255:80",
        "metadata.internal:80", "2130706433:80"}) {
    const auto response = send_over_network()(address, {}, 1s, {});
    EXPECT_THAT(response, IsError(ErrorCode::kInvalidArgument, HasSubstr("not the address of a pod"))) << address;
  }
}

}  // namespace
}  // namespace tpuslice::runtime
