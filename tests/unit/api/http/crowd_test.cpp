// Clients from many addresses against one server, with the limits of the webhook. A good client is served all the same:
// it fails if it is not answered within 20 s or if its connection is closed. Time-outs are longer than that.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crowd.h"
#include "tests/support/eventually.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tpuslice::testing::Crowd;
using tpuslice::testing::eventually;

constexpr std::size_t kMiB = 1U << 20U;
constexpr int kWindow = 2048;

ServerOptions crowded(ServerOptions options = {}) {
  options.body_limit = 7 * kMiB;
  options.body_budget = 28 * kMiB;
  options.reply_budget = 16 * kMiB;
  options.socket_buffer = 64 << 10;
  options.max_connections = 512;
  options.max_connections_per_peer = 256;
  for (Duration* timeout : {&options.handshake_timeout, &options.read_timeout, &options.wait_timeout,
                            &options.idle_timeout, &options.write_timeout}) {
    *timeout = 5min;
  }
  return options;
}

std::string post(std::size_t body, std::size_t sent) {
  return fmt::format("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body) + std::string(sent, 'x');
}
std::string post(std::size_t body) { return post(body, body); }
std::string get_of(std::size_t bytes) { return fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", bytes); }

/// Replies have as many bytes as the path says; GET /trust is trusted.
class CrowdTest : public ::testing::Test {
 protected:
  void serve(ServerOptions options) {
    server_ = start(std::move(options), [this](const Request& request, const Peer&) {
      if (request.target == "/trust") return Reply{{200, {}, "fine"}, nullptr, true};
      if (request.target == "/") return text_reply(200, "fine");
      ++large_;
      return text_reply(200, std::string(std::stoul(request.target.substr(1)), 'x'));
    });
  }

  /// Of a connection that stays open.
  void expect_answer(RawClient& client, const std::string& request = get_of_root()) {
    ASSERT_TRUE(client.send(request));
    ASSERT_THAT(client.read_until("fine"), HasSubstr("HTTP/1.1 200 OK"));
  }
  void expect_new_client_is_answered(const std::string& request = get_of_root()) {
    RawClient client(server_->port());
    expect_answer(client, request);
  }
  static std::string get_of_root() { return "GET / HTTP/1.1\r\nHost: a\r\n\r\n"; }

  std::atomic<int> large_ = 0;
  std::unique_ptr<Server> server_;
};

TEST_F(CrowdTest, MakesNoMoreRepliesThanTheirBudgetWhileNoneIsRead) {
  ServerOptions options = crowded();
  options.slow_transfer = 1h;
  serve(options);
  Crowd crowd;
  crowd.connect(server_->port(), 3, 210, get_of(kMiB), kWindow);
  // An address has four of these replies, or five if two were made at a time.
  ASSERT_TRUE(eventually([&] { return large_ >= 12; })) << large_;
  RawClient good(server_->port());
  for (int i = 0; i < 300; ++i) expect_answer(good);
  EXPECT_LE(large_, 15);
}

TEST_F(CrowdTest, AnswersAGoodClientWhileRepliesOfSixAddressesAreUnread) {
  serve(crowded());
  RawClient kept(server_->port());
  expect_answer(kept);
  Crowd crowd;
  crowd.connect(server_->port(), 6, 420, get_of(3 * kMiB / 2), kWindow);
  for (int i = 0; i < 20; ++i) {
    expect_answer(kept);
    expect_new_client_is_answered();
  }
}

TEST_F(CrowdTest, AnswersAGoodClientWhileAThousandReadSlowly) {
  serve(crowded());
  RawClient kept(server_->port());
  expect_answer(kept);
  Crowd crowd;
  crowd.connect(server_->port(), 8, 1000, get_of(kMiB), kWindow);
  for (int i = 0; i < 20; ++i) {
    crowd.read(512);
    expect_answer(kept);
    expect_new_client_is_answered();
  }
}

TEST_F(CrowdTest, ReadsASmallBodyWhileLargeOnesOfSixteenAddressesAreSentSlowly) {
  serve(crowded());
  Crowd crowd;
  crowd.connect(server_->port(), 16, 400, post(7 * kMiB, 1000));
  for (int i = 0; i < 20; ++i) expect_new_client_is_answered(post(20'000));
}

TEST_F(CrowdTest, ReadsABodyThatIsNotSmallWhileLargeOnesOfSixteenAddressesAreSentSlowly) {
  serve(crowded());
  Crowd crowd;
  crowd.connect(server_->port(), 16, 400, post(7 * kMiB, 1000));
  for (int i = 0; i < 10; ++i) {
    crowd.connect(server_->port(), 16, 16, post(7 * kMiB, 1000));
    expect_new_client_is_answered(post(400'000));
  }
}

TEST_F(CrowdTest, KeepsTheConnectionsOfAnAddressWithFewWhileThreeOthersOpenThousands) {
  serve(crowded());
  RawClient kept(server_->port());
  expect_answer(kept);
  Crowd crowd;
  crowd.connect(server_->port(), 3, 3000, "P");
  expect_answer(kept);
  for (int i = 0; i < 20; ++i) {
    RawClient late(server_->port());
    crowd.connect(server_->port(), 3, 30, "P");
    expect_answer(late);
  }
  expect_answer(kept);
}

TEST_F(CrowdTest, KeepsTheConnectionsOfATrustedAddressHoweverManyOthersThereAre) {
  serve(crowded());
  RawClient kept(server_->port());
  expect_answer(kept, "GET /trust HTTP/1.1\r\nHost: a\r\n\r\n");
  RawClient idle(server_->port());
  Crowd crowd;
  crowd.connect(server_->port(), 2000, 2000, "P");
  expect_answer(idle);
  expect_answer(kept);
  expect_new_client_is_answered();
}

TEST_F(CrowdTest, AnswersAProbeWhileThreeAddressesHoldAllConnectionsOfASmallServer) {
  ServerOptions options = crowded();
  options.threads = 1;
  options.max_connections = 100;
  options.max_connections_per_peer = 50;
  serve(options);
  Crowd crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.connect(server_->port(), 3, 150, "GET /");
    expect_new_client_is_answered();
  }
}

TEST_F(CrowdTest, FinishesHandshakesWhileOthersConnectAllTheTime) {
  serve(crowded(tls_options()));
  std::atomic<int> opened = 0;
  std::jthread attacker([&](const std::stop_token& stop) {
    Crowd crowd;
    while (!stop.stop_requested()) {
      crowd.connect(server_->port(), 3, 200, "\x16\x03\x01");
      opened += 200;
      if (crowd.size() > 2000) crowd.close();
    }
  });
  ASSERT_TRUE(eventually([&] { return opened >= 600; }));
  for (int i = 0; i < 50; ++i) {
    const auto response = connect(transport_options(*server_))->call(get("/"), kGenerous, {});
    ASSERT_TRUE(response.ok()) << i << ": " << response.error().message();
    EXPECT_EQ(response->body, "fine");
  }
}

}  // namespace
}  // namespace tpuslice::http::testing
