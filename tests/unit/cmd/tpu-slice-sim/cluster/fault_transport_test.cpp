#include "cmd/tpu-slice-sim/cluster/fault_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::sim {
namespace {

using namespace std::chrono_literals;

/// Responds to every request with 200 and counts them.
class Echo final : public http::Transport {
 public:
  Result<http::Response> call(const http::Request& /*request*/, Duration /*deadline*/,
                              std::stop_token /*stop*/) override {
    ++calls;
    return http::Response{200, {}, "{}"};
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request& /*request*/, Duration /*deadline*/,
                                             std::stop_token /*stop*/) override {
    class Chunks final : public http::Stream {
     public:
      int status() const override { return 200; }
      const http::Headers& headers() const override { return headers_; }
      Result<std::string> read(Duration /*wait*/, std::stop_token /*stop*/) override {
        return std::to_string(++count_);
      }

     private:
      http::Headers headers_;
      int count_ = 0;
    };
    return std::unique_ptr<http::Stream>(std::make_unique<Chunks>());
  }

  int calls = 0;
};

class FaultTransportTest : public ::testing::Test {
 protected:
  Result<http::Response> send(const std::string& method, const std::string& target) {
    return transport_.call({method, target, {}, {}}, 1s, {});
  }
  Result<http::Response> create_pod() { return send("POST", "/api/v1/namespaces/default/pods"); }

  FakeClock clock_;
  Echo server_;
  FaultTransport transport_{server_, clock_};
};

TEST_F(FaultTransportTest, CountsByVerbAndResource) {
  ASSERT_TRUE(create_pod().ok());
  ASSERT_TRUE(send("GET", "/apis/ray.io/v1/rayclusters?limit=5").ok());
  ASSERT_TRUE(send("PATCH", "/apis/ray.io/v1/namespaces/default/rayclusters/c/status").ok());
  ASSERT_TRUE(send("DELETE", "/api/v1/namespaces/default").ok());
  ASSERT_TRUE(send("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/l").ok());
  const std::map<std::string, std::int64_t> wanted{{"create pods", 1},
                                                   {"list rayclusters.ray.io", 1},
                                                   {"patch rayclusters.ray.io/status", 1},
                                                   {"delete namespaces", 1},
                                                   {"update leases.coordination.k8s.io", 1}};
  EXPECT_EQ(transport_.counts(), wanted);
  EXPECT_EQ(transport_.writes(), 3) << "leases are not counted as writes";
}

TEST_F(FaultTransportTest, FailsAfterTheNthWriteReachedTheServer) {
  transport_.set_faults({.die_at_write = 2});
  EXPECT_TRUE(create_pod().ok());
  EXPECT_THAT(create_pod(), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(server_.calls, 2);
  EXPECT_TRUE(transport_.dead());
  EXPECT_THAT(send("GET", "/api/v1/pods"), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(server_.calls, 2);
}

TEST_F(FaultTransportTest, FailsBeforeTheNthWrite) {
  transport_.set_faults({.die_at_write = 1, .die_before_server = true});
  EXPECT_THAT(create_pod(), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(server_.calls, 0);
}

TEST_F(FaultTransportTest, DropsResponsesOfSuccessfulWrites) {
  transport_.set_faults({.drop_reply_every = 2});
  EXPECT_TRUE(create_pod().ok());
  EXPECT_THAT(create_pod(), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(server_.calls, 2);
}

TEST_F(FaultTransportTest, AnswersConflictWithoutTheServer) {
  transport_.set_faults({.conflict_every = 1});
  const auto reply = send("PATCH", "/api/v1/namespaces/default/pods/a");
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, 409);
  EXPECT_EQ(server_.calls, 0);
  EXPECT_EQ(create_pod()->status, 200);
}

TEST_F(FaultTransportTest, AnswersTooManyRequestsWithRetryAfter) {
  transport_.set_faults({.too_many_every = 1});
  const auto reply = send("GET", "/api/v1/pods");
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(*http::find_header(reply->headers, "retry-after"), "1");
}

TEST_F(FaultTransportTest, CutsAndDelaysWatches) {
  transport_.set_faults({.cut_watch_every = 2});
  auto cut = transport_.open({"GET", "/api/v1/pods?watch=true", {}, {}}, 1s, {});
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)->read({}, {}).value(), "1");
  EXPECT_EQ((*cut)->read({}, {}).value(), "2");
  EXPECT_THAT((*cut)->read({}, {}), IsError(ErrorCode::kUnavailable));

  transport_.set_faults({.delay_watch = 3s});
  auto late = transport_.open({"GET", "/api/v1/pods?watch=true", {}, {}}, 1s, {});
  ASSERT_TRUE(late.ok());
  EXPECT_EQ((*late)->read({}, {}).value(), "");
  clock_.advance(3s);
  EXPECT_EQ((*late)->read({}, {}).value(), "1");
}

TEST_F(FaultTransportTest, Answers410OnlyToWatchesThatResume) {
  transport_.set_faults({.gone_every = 1});
  const auto status_of = [&](const std::string& target) {
    const auto stream = transport_.open({"GET", target, {}, {}}, 1s, {});
    return stream.ok() ? (*stream)->status() : 0;
  };
  EXPECT_EQ(status_of("/api/v1/pods?watch=true&resourceVersion=7"), 410);
  EXPECT_EQ(status_of("/api/v1/pods?watch=true&resourceVersionMatch=NotOlderThan"), 200);
}

}  // namespace
}  // namespace tpuslice::sim
