// Verification of server certificates, client certificates, and options that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/support/error_matchers.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::HasSubstr;

Reply host_header(const Request& request, const Peer&) {
  return text_reply(200, *find_header(request.headers, "host"));
}

std::unique_ptr<Server> start_with(const Identity& identity) {
  ServerOptions options;
  options.tls = identity;
  return start(options, host_header);
}

/// A certificate request for 127.0.0.1.
CertificateRequest for_loopback() {
  return {.common_name = "127.0.0.1", .organizations = {}, .dns_names = {}, .ip_addresses = {"127.0.0.1"}};
}

void expect_refused(const Server& server, const TransportOptions& options, const std::string& why) {
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable, HasSubstr(why))) << server.port();
}

TEST(TransportTls, AcceptsACertificateForTheAddress) {
  const auto server = start_with(issue(for_loopback()));
  const auto response = connect(transport_options(*server))->call(get("/"), kGenerous, {});
  EXPECT_TRUE(response.ok()) << response.error().message();
}

TEST(TransportTls, RefusesAnotherAuthority) {
  const auto server = start_with(pki().server);
  TransportOptions options = transport_options(*server);
  options.ca = make_certificate_authority("another", valid_now()).value().certificate_chain;
  expect_refused(*server, options, "unable to get local issuer certificate");
}

// Regression: connections that were refused at the same time shared one reason, which one of them reported.
TEST(TransportTls, EachConnectionReportsWhyItsCertificateWasRefused) {
  const auto server = start_with(pki().server);
  TransportOptions options = transport_options(*server);
  options.ca = make_certificate_authority("another", valid_now()).value().certificate_chain;
  const auto transport = connect(options);
  std::vector<std::jthread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&transport] {
      for (int i = 0; i < 25; ++i) {
        const auto response = transport->call(get("/"), kGenerous, {});
        EXPECT_THAT(response, IsError(ErrorCode::kUnavailable, HasSubstr("unable to get local issuer certificate")));
      }
    });
  }
}

// The CA of a cluster may be an intermediate without its root, as with an external CA of kubeadm.
TEST(TransportTls, TrustsAnIntermediateAuthorityWithoutItsRoot) {
  const Identity authority = intermediate_authority();
  const auto server = start_with(issue_certificate(authority, for_loopback(), valid_now()).value());
  TransportOptions options = transport_options(*server);
  options.ca = authority.certificate_chain;
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_TRUE(response.ok()) << response.error().message();
  const auto other = start_with(issue(for_loopback()));
  options.server = transport_options(*other).server;
  expect_refused(*other, options, "unable to get local issuer certificate");
}

TEST(TransportTls, IgnoresTheCommonName) {
  CertificateRequest request = for_loopback();
  request.ip_addresses = {"10.0.0.1"};
  request.dns_names = {"example.org"};
  const auto server = start_with(issue(request));
  expect_refused(*server, transport_options(*server), "IP address mismatch");
  request.dns_names.clear();
  request.ip_addresses.clear();
  const auto bare = start_with(issue(request));
  expect_refused(*bare, transport_options(*bare), "IP address mismatch");
}

TEST(TransportTls, RefusesAnExpiredCertificate) {
  const auto server = start_with(issue(for_loopback(), expired()));
  expect_refused(*server, transport_options(*server), "certificate has expired");
}

TEST(TransportTls, VerifiesTheConfiguredServerName) {
  CertificateRequest request = for_loopback();
  request.ip_addresses.clear();
  request.dns_names = {"api.cluster.internal"};
  const auto server = start_with(issue(request));
  TransportOptions options = transport_options(*server);
  options.tls_server_name = "api.cluster.internal";
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_TRUE(response.ok()) << response.error().message();
  options.tls_server_name = "other.cluster.internal";
  expect_refused(*server, options, "hostname mismatch");
}

TEST(TransportTls, ConnectsByName) {
  const auto server = start_with(pki().server);
  TransportOptions options = transport_options(*server);
  options.server = fmt::format("https://localhost:{}", server->port());
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_TRUE(response.ok()) << response.error().message();
}

TEST(TransportTls, SkipsVerificationIfConfigured) {
  const auto server = start_with(issue(for_loopback(), expired()));
  TransportOptions options = transport_options(*server);
  options.ca.clear();
  options.insecure_skip_verify = true;
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_TRUE(response.ok()) << response.error().message();
}

TEST(TransportTls, UsesANewClientCertificateForTheNextCall) {
  ServerOptions server_options = tls_options();
  server_options.client_ca = pki().authority.certificate_chain;
  const auto server =
      start(server_options, [](const Request&, const Peer& peer) { return text_reply(200, peer.common_name); });
  const auto identity = [](const std::string& name) {
    return issue({.common_name = name,
                  .organizations = {},
                  .dns_names = {},
                  .ip_addresses = {},
                  .server = false,
                  .client = true});
  };
  std::optional<Identity> current = identity("first");
  TransportOptions options = transport_options(*server);
  options.identity = [&]() -> Result<std::optional<Identity>> { return current; };
  const auto transport = connect(options);
  EXPECT_EQ(transport->call(get("/"), kGenerous, {}).value().body, "first");
  current = identity("second");
  EXPECT_EQ(transport->call(get("/"), kGenerous, {}).value().body, "second");
}

TEST(TransportTls, VerifiesTheNextCallWithANewAuthority) {
  const auto server = start_with(issue(for_loopback()));
  const std::string other = make_certificate_authority("another", valid_now()).value().certificate_chain;
  TransportOptions options = transport_options(*server);
  std::string current = options.ca;
  options.read_ca = [&]() -> Result<std::string> { return current; };
  const auto transport = connect(options);
  EXPECT_TRUE(transport->call(get("/"), kGenerous, {}).ok());
  current = other;
  EXPECT_THAT(transport->call(get("/"), kGenerous, {}), IsError(ErrorCode::kUnavailable))
      << "the open connection is dropped";
  current = other + options.ca;
  EXPECT_TRUE(transport->call(get("/"), kGenerous, {}).ok());
}

struct InvalidOptionsCase {
  const char* name;
  TransportOptions options;
  ErrorCode code;
};

class TransportRefuses : public ::testing::TestWithParam<InvalidOptionsCase> {};

TEST_P(TransportRefuses, InvalidOptions) {
  const auto transport = make_transport_under_test(GetParam().options);
  EXPECT_THAT(transport, IsError(GetParam().code));
}

TransportOptions to(std::string server, std::string ca = "", std::string proxy = "") {
  TransportOptions options;
  options.server = std::move(server);
  options.ca = std::move(ca);
  options.proxy_url = std::move(proxy);
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Options, TransportRefuses,
    ::testing::Values(InvalidOptionsCase{"HttpsWithoutAuthority", to("https://a"), ErrorCode::kInvalidArgument},
                      InvalidOptionsCase{"InvalidAuthority", to("https://a", "nonsense"), ErrorCode::kInvalidArgument},
                      InvalidOptionsCase{"NoUrl", to("a:6443"), ErrorCode::kInvalidArgument},
                      InvalidOptionsCase{"Password", to("https://a:b@c", "x"), ErrorCode::kUnsupported},
                      InvalidOptionsCase{"BadProxy", to("http://a", "", "proxy:80"), ErrorCode::kInvalidArgument},
                      InvalidOptionsCase{"TlsProxy", to("http://a", "", "https://proxy"), ErrorCode::kUnsupported}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tpuslice::http::testing
