// Certificates of the TLS server and of its clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Reply who(const Request&, const Peer& peer) {
  std::string body = peer.common_name;
  for (const std::string& each : peer.organizations) body += "/" + each;
  return text_reply(200, body);
}

Identity client_identity(const std::string& name, const Validity& validity = valid_now()) {
  return issue({.common_name = name,
                .organizations = {"system:masters", "ops"},
                .dns_names = {},
                .ip_addresses = {},
                .server = false,
                .client = true},
               validity);
}

std::unique_ptr<Transport> connect_as(const Server& server, std::optional<Identity> identity) {
  TransportOptions options = transport_options(server);
  options.identity = [identity]() -> Result<std::optional<Identity>> { return identity; };
  return connect(options);
}

TEST(TlsServer, IdentifiesAClientByItsCertificate) {
  ServerOptions options = tls_options();
  options.client_ca = pki().authority.certificate_chain;
  const auto server = start(options, who);
  EXPECT_EQ(connect_as(*server, client_identity("jane"))->call(get("/"), kGenerous, {}).value().body,
            "jane/system:masters/ops");
}

TEST(TlsServer, IdentifiesAClientOfAnIntermediateAuthorityWithoutItsRoot) {
  const Identity authority = intermediate_authority();
  ServerOptions options = tls_options();
  options.client_ca = authority.certificate_chain;
  const auto server = start(options, who);
  CertificateRequest request;
  request.common_name = "jane";
  request.server = false;
  request.client = true;
  const auto response =
      connect_as(*server, issue_certificate(authority, request, valid_now()).value())->call(get("/"), kGenerous, {});
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->body, "jane");
  EXPECT_THAT(connect_as(*server, client_identity("of-the-root"))->call(get("/"), kGenerous, {}),
              IsError(ErrorCode::kUnavailable));
}

TEST(TlsServer, AcceptsClientsWithoutACertificate) {
  ServerOptions options = tls_options();
  options.client_ca = pki().authority.certificate_chain;
  const auto server = start(options, who);
  EXPECT_EQ(connect_as(*server, std::nullopt)->call(get("/"), kGenerous, {}).value().body, "");
}

TEST(TlsServer, RefusesCertificatesOfOtherAuthorities) {
  ServerOptions options = tls_options();
  options.client_ca = make_certificate_authority("another", valid_now()).value().certificate_chain;
  const auto server = start(options, who);
  EXPECT_THAT(connect_as(*server, client_identity("jane"))->call(get("/"), kGenerous, {}),
              IsError(ErrorCode::kUnavailable));
}

TEST(TlsServer, RefusesExpiredCertificates) {
  ServerOptions options = tls_options();
  options.client_ca = pki().authority.certificate_chain;
  const auto server = start(options, who);
  EXPECT_THAT(connect_as(*server, client_identity("jane", expired()))->call(get("/"), kGenerous, {}),
              IsError(ErrorCode::kUnavailable));
}

TEST(TlsServer, RequestsNoCertificateWithoutAClientAuthority) {
  const auto server = start(tls_options(), who);
  EXPECT_EQ(connect_as(*server, client_identity("jane"))->call(get("/"), kGenerous, {}).value().body, "");
}

TEST(TlsServer, ServesItsNewCertificateToNewConnections) {
  const auto server = start(tls_options(), who);
  const auto old_connection = connect(transport_options(*server));
  ASSERT_TRUE(old_connection->call(get("/"), kGenerous, {}).ok());

  const Identity other = make_certificate_authority("another", valid_now()).value();
  const Identity next =
      issue_certificate(other,
                        {.common_name = "server", .organizations = {}, .dns_names = {}, .ip_addresses = {"127.0.0.1"}},
                        valid_now())
          .value();
  ASSERT_TRUE(server->set_tls(next, {}).ok());
  EXPECT_TRUE(old_connection->call(get("/"), kGenerous, {}).ok()) << "open connections are not affected";
  EXPECT_THAT(connect(transport_options(*server))->call(get("/"), kGenerous, {}), IsError(ErrorCode::kUnavailable));
  TransportOptions options = transport_options(*server);
  options.ca = other.certificate_chain;
  EXPECT_TRUE(connect(options)->call(get("/"), kGenerous, {}).ok());
}

TEST(TlsServer, KeepsItsCertificateIfTheNewKeyDoesNotMatch) {
  const auto server = start(tls_options(), who);
  const Identity other = client_identity("other");
  const Status mismatch = server->set_tls({pki().server.certificate_chain, other.private_key}, {});
  EXPECT_THAT(mismatch, IsError(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(connect(transport_options(*server))->call(get("/"), kGenerous, {}).ok());
}

TEST(TlsServer, DoesNotStartWithAnInvalidCertificate) {
  for (const Identity& invalid : {Identity{"", ""}, Identity{pki().server.certificate_chain, "nonsense"}}) {
    const auto server = Server::start({.tls = invalid}, kRealClock, who);
    EXPECT_THAT(server, IsError(ErrorCode::kInvalidArgument));
  }
}

/// The first bytes that the server sends to a client that offers TLS 1.2 with one suite.
std::string answer_to_hello(const Server& server, std::string_view suite) {
  const auto with_length = [](std::size_t bytes, const std::string& text) {
    std::string out;
    for (std::size_t i = bytes; i-- > 0;) out += static_cast<char>(text.size() >> (8 * i) & 0xffU);
    return out + text;
  };
  using namespace std::string_literals;
  // P-256, uncompressed points, ECDSA with SHA-256.
  const std::string extensions = "\x00\x0a"s + with_length(2, with_length(2, "\x00\x17"s)) + "\x00\x0b"s +
                                 with_length(2, with_length(1, "\x00"s)) + "\x00\x0d"s +
                                 with_length(2, with_length(2, "\x04\x03"s));
  const std::string hello = "\x03\x03"s + std::string(32, 'r') + with_length(1, "") +
                            with_length(2, std::string(suite)) + with_length(1, "\x00"s) + with_length(2, extensions);
  RawClient client(server.port());
  client.send("\x16\x03\x01" + with_length(2, "\x01" + with_length(3, hello)));
  return client.read_until("\x03\x03");
}

TEST(TlsServer, ServesTls12WithAuthenticatedEncryptionOnly) {
  const auto server = start(tls_options(), who);
  EXPECT_EQ(answer_to_hello(*server, "\xc0\x2b"), "\x16\x03\x03") << "ECDHE-ECDSA-AES128-GCM-SHA256: a handshake";
  EXPECT_EQ(answer_to_hello(*server, "\xc0\x09"), "\x15\x03\x03") << "ECDHE-ECDSA-AES128-SHA, in CBC mode: an alert";
}

}  // namespace
}  // namespace tpuslice::http::testing
