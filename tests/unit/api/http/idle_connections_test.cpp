// What the server keeps for connections that send nothing, and when it closes them.
#include <malloc.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "api/http/tls/openssl.h"
#include "tests/support/eventually.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tpuslice::testing::eventually;

constexpr int kConnections = 200;
constexpr std::int64_t kKiB = 1024;
const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

using ContextPtr = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using ConnectionPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// TLS over a RawClient: when this is gone, only the server has memory for the connection.
ConnectionPtr handshake(const RawClient& client, SSL_CTX* context) {
  ConnectionPtr tls(SSL_new(context));
  EXPECT_EQ(SSL_set_fd(tls.get(), client.descriptor()), 1);
  EXPECT_EQ(SSL_connect(tls.get()), 1);
  return tls;
}

std::string exchange(SSL* tls, const std::string& request) {
  EXPECT_GT(SSL_write(tls, request.data(), static_cast<int>(request.size())), 0);
  std::array<char, 1024> answer{};
  const int size = SSL_read(tls, answer.data(), answer.size());
  return size > 0 ? std::string(answer.data(), static_cast<std::size_t>(size)) : std::string();
}

std::int64_t heap() {
  const auto info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

class IdleConnections : public ::testing::Test {
 protected:
  IdleConnections() { expect_answer(); }

  /// Of connections that were accepted before it, all are in this state.
  void expect_answer() {
    const RawClient client(server_->port());
    EXPECT_THAT(exchange(handshake(client, context_.get()).get(), kGet), StartsWith("HTTP/1.1 200 OK"));
  }
  [[nodiscard]] static std::int64_t kept_for_each(std::int64_t before) { return (heap() - before) / kConnections; }

  const ContextPtr context_{SSL_CTX_new(TLS_client_method())};
  const std::unique_ptr<Server> server_ = start(tls_options(), ok);
  std::vector<std::unique_ptr<RawClient>> clients_;
};

TEST_F(IdleConnections, HaveNoTlsBeforeTheFirstByte) {
  const std::int64_t before = heap();
  for (int i = 0; i < kConnections; ++i) clients_.push_back(std::make_unique<RawClient>(server_->port()));
  expect_answer();
  EXPECT_LT(kept_for_each(before), 8 * kKiB);
}

TEST_F(IdleConnections, HaveNoBuffersBetweenTwoRequests) {
  const std::int64_t before = heap();
  const std::string large = fmt::format("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n{:20000}", "");
  for (int i = 0; i < kConnections; ++i) {
    clients_.push_back(std::make_unique<RawClient>(server_->port()));
    EXPECT_THAT(exchange(handshake(*clients_.back(), context_.get()).get(), large), StartsWith("HTTP/1.1 200 OK"));
  }
  expect_answer();
  EXPECT_LT(kept_for_each(before), 24 * kKiB);
}

TEST(ServerTimeouts, CloseAConnectionWhoseHandshakeIsSentSlowly) {
  ServerOptions options = tls_options();
  options.handshake_timeout = 200ms;
  const auto server = start(options, ok);
  RawClient client(server->port());
  pause(100ms, {});
  int sent = 0;
  const std::string hello = "\x16\x03\x01\x02" + std::string(500, '\1');
  while (sent < 200 && client.send(hello.substr(static_cast<std::size_t>(sent), 1))) {
    ++sent;
    pause(50ms, {});
  }
  EXPECT_LT(sent, 200);
}

TEST(ServerTimeouts, CloseAnIdleTlsConnection) {
  ServerOptions options = tls_options();
  options.idle_timeout = 150ms;
  const auto server = start(options, ok);
  const ContextPtr context(SSL_CTX_new(TLS_client_method()));
  const RawClient client(server->port());
  const ConnectionPtr tls = handshake(client, context.get());
  const int open = open_descriptors();
  EXPECT_THAT(exchange(tls.get(), kGet), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(eventually([&] { return open_descriptors() < open; }, kGenerous));
}

/// TCP_USER_TIMEOUT does not close it, as it reads all the time.
TEST(ServerTimeouts, CloseAConnectionThatReadsItsReplySlowly) {
  ServerOptions options = tls_options();
  options.write_timeout = 500ms;
  options.socket_buffer = 16 << 10;
  const auto server =
      start(options, [](const Request&, const Peer&) { return text_reply(200, std::string(8U << 20U, 'x')); });
  const ContextPtr context(SSL_CTX_new(TLS_client_method()));
  const RawClient client(server->port());
  const ConnectionPtr tls = handshake(client, context.get());
  const int open = open_descriptors();
  EXPECT_THAT(exchange(tls.get(), kGet), StartsWith("HTTP/1.1 200 OK"));
  std::array<char, 32768> bytes{};
  int reads = 0;
  while (reads < 200 && open_descriptors() == open) {
    static_cast<void>(::recv(client.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT));
    ++reads;
    pause(50ms, {});
  }
  EXPECT_LT(reads, 200);
}

TEST(ServerTimeouts, DoNotCountWhileARequestWaitsForRoom) {
  Gate entered;
  Gate release;
  ServerOptions options = plain_options();
  options.body_limit = 1000;
  options.body_budget = 4000;
  options.small_message = 100;
  options.read_timeout = 150ms;
  const auto server = start(options, [&](const Request&, const Peer&) {
    entered.open();
    release.wait();
    return text_reply(200, "fine");
  });
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n";
  RawClient first(server->port());
  first.send(post + std::string(1000, 'a'));
  ASSERT_TRUE(entered.wait());
  RawClient second(server->port());
  second.send(post);
  pause(500ms, {});
  release.open();
  second.send(std::string(1000, 'a'));
  EXPECT_THAT(first.read_all(), HasSubstr("fine"));
  EXPECT_THAT(second.read_all(), HasSubstr("fine"));
}

}  // namespace
}  // namespace tpuslice::http::testing
