#include "controllers/runtime/fenced_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/client/client.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// Records the last request; asks may_send as the network does.
class RecordingTransport final : public http::Transport {
 public:
  Result<http::Response> call(const http::Request& request, Duration, std::stop_token) override {
    if (before_send) before_send();
    target = request.target;
    sent = !request.may_send || request.may_send();
    if (!sent) return Error::of(ErrorCode::kCancelled, "not sent");
    return http::Response{200, {}, R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"}})"};
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::unsupported("no streams");
  }

  std::function<void()> before_send;  ///< While the request waits for a connection.
  std::string target;
  bool sent = false;
};

class FencedWriterTest : public ::testing::Test {
 protected:
  /// Each kind of write; whether it was sent.
  std::vector<bool> write_all() {
    const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}, {"resourceVersion", "1"}}}});
    const ObjectKey key{"ns", "a"};
    std::vector<bool> sent;
    const auto note = [&](bool ok) { sent.push_back(ok && transport_.sent); };
    note(writer_.create(kPods, pod, {}, {}).ok());
    note(writer_.create_text(kPods, key, pod.json().dump(), {}, {}).ok());
    note(writer_.patch(kPods, key, client::PatchType::kMerge, Json::object(), {}, {}).ok());
    note(writer_.update_status(kPods, key, Json::object(), {}, {}).ok());
    note(writer_.replace(kPods, pod, {}, {}).ok());
    note(writer_.remove(kPods, key, {}, {}).ok());
    return sent;
  }

  RecordingTransport transport_;
  client::Client client_{transport_};
  std::optional<Duration> left_ = 14s;
  FencedWriter writer_{client_, [this] { return left_; }};
};

const std::vector<bool> kAll(6, true);
const std::vector<bool> kNone(6, false);

TEST_F(FencedWriterTest, SendsWhileTheLeaseIsHeld) { EXPECT_EQ(write_all(), kAll); }

TEST_F(FencedWriterTest, SendsNothingWithoutTheLease) {
  left_ = 0s;
  EXPECT_EQ(write_all(), kNone);
  EXPECT_EQ(transport_.target, "") << "no request was made";
}

TEST_F(FencedWriterTest, SendsNothingWhenTheLeaseIsLostWhileTheRequestWaits) {
  transport_.before_send = [this] { left_ = 0s; };
  std::vector<bool> sent;
  for (std::size_t i = 0; i < kNone.size(); ++i) {
    left_ = 14s;
    sent.push_back(write_all()[i]);
  }
  EXPECT_EQ(sent, kNone);
}

TEST_F(FencedWriterTest, TheServerGivesUpOnACreateBeforeTheLeaseCanBeAcquired) {
  const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}}}});
  ASSERT_TRUE(writer_.create(kPods, pod, {}, {}).ok());
  EXPECT_THAT(transport_.target, HasSubstr("timeout=11s"));
  transport_.before_send = [this] { left_ = 10s; };
  EXPECT_THAT(writer_.create(kPods, pod, {}, {}), IsError(ErrorCode::kCancelled)) << "it has waited for too long";
  transport_.before_send = nullptr;
  EXPECT_TRUE(writer_.create(kPods, pod, {}, {}).ok());
  EXPECT_THAT(transport_.target, HasSubstr("timeout=7s"));
}

TEST_F(FencedWriterTest, HasNoTimeoutWithoutLeaderElection) {
  left_ = std::nullopt;
  EXPECT_EQ(write_all(), kAll);
  const Object pod(Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}}}});
  ASSERT_TRUE(writer_.create(kPods, pod, {}, {}).ok());
  EXPECT_THAT(transport_.target, Not(HasSubstr("timeout")));
}

}  // namespace
}  // namespace tpuslice::runtime
