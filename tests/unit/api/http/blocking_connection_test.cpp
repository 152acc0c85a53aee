#include "api/http/testing/blocking_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

BlockingOptions options_for(const Server& server) {
  BlockingOptions options;
  options.server = *parse_base_url(fmt::format("https://127.0.0.1:{}", server.port()));
  options.ca = pki().authority.certificate_chain;
  options.token = "secret";
  return options;
}

TEST(BlockingConnection, PostsWithItsTokenAndReportsAnErrorStatus) {
  const auto server = start(tls_options(), [](const Request& request, const Peer&) {
    const bool authorized = *find_header(request.headers, "authorization") == "Bearer secret";
    return text_reply(authorized && request.body == "{}" ? 201 : 403, "forbidden");
  });
  const auto connection = BlockingConnection::connect(options_for(*server));
  ASSERT_TRUE(connection.ok()) << connection.error().message();
  EXPECT_TRUE((*connection)->post("/pods", "{}").ok());
  EXPECT_TRUE((*connection)->post("/pods", "{}").ok());  // On the same connection.
  const Status refused = (*connection)->post("/pods", "[]");
  EXPECT_THAT(refused, IsError(ErrorCode::kUnavailable, HasSubstr("POST /pods: status 403: forbidden")));
}

TEST(BlockingConnection, ReadsAWatchToItsEnd) {
  const auto server = start(tls_options(), [](const Request&, const Peer&) { return text_reply(200, "one\ntwo\n"); });
  const auto connection = BlockingConnection::connect(options_for(*server));
  ASSERT_TRUE(connection.ok()) << connection.error().message();
  ASSERT_TRUE((*connection)->open("/pods?watch=1").ok());
  std::string body;
  while ((*connection)->read(body)) {
  }
  EXPECT_EQ(body, "one\ntwo\n");
}

TEST(BlockingConnection, ComesFromTheGivenAddress) {
  const auto server = start(tls_options(), [](const Request&, const Peer& peer) {
    return text_reply(peer.address.starts_with("127.0.0.7:") ? 200 : 403, "");
  });
  BlockingOptions options = options_for(*server);
  options.local_address = "127.0.0.7";
  const auto connection = BlockingConnection::connect(options);
  ASSERT_TRUE(connection.ok()) << connection.error().message();
  EXPECT_TRUE((*connection)->get("/pods").ok());
}

TEST(BlockingConnection, SendsBytesInParts) {
  const auto server =
      start(tls_options(), [](const Request& request, const Peer&) { return text_reply(200, request.body); });
  const auto connection = BlockingConnection::connect(options_for(*server));
  ASSERT_TRUE(connection.ok()) << connection.error().message();
  ASSERT_TRUE((*connection)->send_bytes("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-").ok());
  ASSERT_TRUE((*connection)->send_bytes("Length: 3\r\n\r\none").ok());
  std::string answer;
  for (std::string part; !(part = (*connection)->receive_bytes(16)).empty();) {
    EXPECT_LE(part.size(), 16U);
    answer += part;
  }
  EXPECT_THAT(answer, AllOf(HasSubstr("HTTP/1.1 200"), ::testing::EndsWith("one")));
}

TEST(BlockingConnection, RefusesAnotherAuthority) {
  const auto server = start(tls_options(), [](const Request&, const Peer&) { return text_reply(200, ""); });
  BlockingOptions options = options_for(*server);
  options.ca = issue({.common_name = "another"}).certificate_chain;
  const auto connection = BlockingConnection::connect(options);
  EXPECT_THAT(connection, IsError(ErrorCode::kUnavailable));
}

}  // namespace
}  // namespace tpuslice::http::testing
