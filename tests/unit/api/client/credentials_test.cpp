#include "api/client/credentials.h"

#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/client/subprocess.h"
#include "api/http/tls/tls_credentials.h"
#include "api/types/json.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A directory for each test.
class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / fmt::format("tpuslice-{}-{}", getpid(), info->name());
    std::filesystem::create_directories(folder_);
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  ClientConfig plugin(const std::string& script) {
    const std::string path = write("plugin", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ClientConfig config;
    config.server = "https://example.com";
    config.ca = "ca";
    config.exec =
        ExecConfig{.api_version = "client.authentication.k8s.io/v1", .command = path, .install_hint = "install it"};
    return config;
  }
  std::string path(const std::string& name) { return (folder_ / name).string(); }

  FakeClock clock;

 private:
  std::filesystem::path folder_;
};

constexpr Duration kDeadline = std::chrono::seconds(30);

std::string credential(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status + "}";
}

TEST_F(CredentialsTest, TokenFilesAreReadOnceAMinute) {
  const auto file = token_file(write("token", " one \n"), clock);
  EXPECT_EQ(file->get(false).value(), "one");
  write("token", "two");
  clock.advance(std::chrono::seconds(59));
  EXPECT_EQ(file->get(false).value(), "one");
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(file->get(false).value(), "two");
}

TEST_F(CredentialsTest, TokenFilesAreReadAgainAfterUnauthorized) {
  const auto file = token_file(write("token", "one"), clock);
  EXPECT_EQ(file->get(false).value(), "one");
  write("token", "two");
  EXPECT_EQ(file->get(true).value(), "two");
}

TEST_F(CredentialsTest, TokensRemainValidWithoutTheirFile) {
  const std::string name = write("token", "one");
  const auto file = token_file(name, clock);
  EXPECT_EQ(file->get(false).value(), "one");
  std::filesystem::remove(name);
  EXPECT_EQ(file->get(true).value(), "one");
}

TEST_F(CredentialsTest, AbsentOrEmptyTokenFilesAreErrors) {
  EXPECT_THAT(token_file(path("none"), clock)->get(false), IsError(ErrorCode::kUnauthorized));
  EXPECT_THAT(token_file(write("empty", "\n"), clock)->get(false), IsError(ErrorCode::kUnauthorized));
}

TEST_F(CredentialsTest, PluginsReturnATokenOrACertificate) {
  const auto token = parse_exec_credential(credential(R"({"token":"t","expirationTimestamp":"2026-01-01T01:00:00Z"})"),
                                           "client.authentication.k8s.io/v1")
                         .value();
  EXPECT_EQ(token.token, "t");
  EXPECT_EQ(token.expires, parse_rfc3339("2026-01-01T01:00:00Z"));
  const auto certificate = parse_exec_credential(credential(R"({"clientCertificateData":"c","clientKeyData":"k"})"),
                                                 "client.authentication.k8s.io/v1")
                               .value();
  EXPECT_EQ(certificate.identity, (http::Identity{"c", "k"}));
}

TEST_F(CredentialsTest, InvalidCredentialsAreRefusedWithoutQuotingThem) {
  for (
      const std::string& text :
      {std::string("secret"), credential("{}"), credential(R"({"clientCertificateData":"secret"})"),
       credential(R"({"token":"secret","expirationTimestamp":"soon"})"),
       std::string(R"({"kind":"Pod","status":{"token":"secret"}})"),
       std::string(
           R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"secret"}})")}) {
    const auto parsed = parse_exec_credential(text, "client.authentication.k8s.io/v1");
    EXPECT_THAT(parsed, IsError(ErrorCode::kInvalidArgument, Not(HasSubstr("secret")))) << text;
  }
}

TEST_F(CredentialsTest, PluginsGetTheClusterInfo) {
  ClientConfig config = plugin("");
  EXPECT_EQ(
      Json::parse(exec_info(config)),
      Json::parse(
          R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}})"));
  config.exec->provide_cluster_info = true;
  config.exec->cluster_extension = R"({"audience":"x"})";
  EXPECT_EQ(
      Json::parse(exec_info(config))["spec"]["cluster"],
      Json::parse(R"({"server":"https://example.com","certificate-authority-data":"Y2E=","config":{"audience":"x"}})"));
}

TEST_F(CredentialsTest, PluginsGetArgumentsAndEnvironment) {
  ClientConfig config = plugin(
      R"(printf '%s' "$KUBERNETES_EXEC_INFO" > "$OUT"; echo "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"$1-$A\"}}")");
  config.exec->args = {"a b;c"};
  config.exec->env = {{"A", "x"}, {"OUT", path("info")}};
  EXPECT_EQ(run_exec_plugin(config, kDeadline).value().token, "a b;c-x");
  EXPECT_EQ(ConfigSources::real().read_file(path("info")).value(), exec_info(config));
}

TEST_F(CredentialsTest, PluginsInheritNoSockets) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);  // Asio's, too, are not close-on-exec.
  ASSERT_GE(server, 0);
  ClientConfig config = plugin("ls -l /proc/self/fd > \"$OUT\"; echo '" + credential(R"({"token":"t"})") + "'");
  config.exec->env = {{"OUT", path("descriptors")}};
  EXPECT_EQ(run_exec_plugin(config, kDeadline).value().token, "t");
  EXPECT_THAT(ConfigSources::real().read_file(path("descriptors")).value(), Not(HasSubstr("socket:")));
  close(server);
}

TEST_F(CredentialsTest, ErrorsQuoteThePlugin) {
  const auto failed = run_exec_plugin(plugin("echo 'log in first' >&2; exit 3"), kDeadline);
  EXPECT_THAT(failed, IsError(ErrorCode::kUnauthorized, AllOf(HasSubstr("exit code 3"), HasSubstr("log in first"))));
}

TEST_F(CredentialsTest, ErrorsOfMissingPluginsHaveTheInstallHint) {
  ClientConfig config = plugin("");
  config.exec->command = path("none");
  const auto missing = run_exec_plugin(config, kDeadline);
  EXPECT_THAT(missing, IsError(ErrorCode::kUnauthorized, AllOf(HasSubstr("no such program"), HasSubstr("install it"))));
}

TEST_F(CredentialsTest, ErrorsOfPluginsThatCannotBeStartedAreTransient) {
  ClientConfig config = plugin("");
  config.exec->command = "/dev/null";
  EXPECT_THAT(run_exec_plugin(config, kDeadline), IsError(ErrorCode::kUnavailable, HasSubstr("cannot be started")));
}

TEST_F(CredentialsTest, PluginsAreKilledAtTheDeadline) {
  const auto hung = run_exec_plugin(plugin("cat /dev/zero > /dev/null"), std::chrono::milliseconds(200));
  EXPECT_THAT(hung, IsError(ErrorCode::kTimeout));
}

TEST_F(CredentialsTest, PluginsWithEndlessOutputAreKilled) {
  EXPECT_THAT(run_exec_plugin(plugin("cat /dev/zero"), kDeadline), IsError(ErrorCode::kInternal));
}

TEST_F(CredentialsTest, ChildrenOfPluginsAreNotWaitedFor) {
  const auto token =
      run_exec_plugin(plugin("tail -f /dev/null & echo '" + credential(R"({"token":"t"})") + "'"), kDeadline);
  ASSERT_TRUE(token.ok()) << token.error().message();
  EXPECT_EQ(token->token, "t");
}

/// A script that counts its runs and returns the tokens t1, t2, ...
std::string counting(const std::string& file, const std::string& expires = "") {
  return "echo x >> " + file +
         R"(; echo "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t$(wc -l < )" +
         file + R"()\")" + (expires.empty() ? "" : R"(,\"expirationTimestamp\":\")" + expires + R"(\")") + R"(}}")";
}

TEST_F(CredentialsTest, CredentialsAreCachedUntilUnauthorized) {
  ExecCredentials credentials(plugin(counting(path("runs"))), clock);
  EXPECT_EQ(credentials.credential(false).value().token, "t1");
  EXPECT_EQ(credentials.credential(false).value().token, "t1");
  EXPECT_EQ(credentials.credential(true).value().token, "t2");
}

TEST_F(CredentialsTest, CredentialsAreCachedUntilTheyExpire) {
  ExecCredentials credentials(plugin(counting(path("runs"), "2026-01-01T01:00:00Z")), clock);
  EXPECT_EQ(credentials.credential(false).value().token, "t1");
  clock.advance(std::chrono::minutes(59));
  EXPECT_EQ(credentials.credential(false).value().token, "t1");
  clock.advance(std::chrono::seconds(50));
  EXPECT_EQ(credentials.credential(false).value().token, "t2");
}

TEST_F(CredentialsTest, TransportsUseTheTokenSourceOfTheConfig) {
  ClientConfig config;
  config.server = "https://example.com";
  EXPECT_FALSE(transport_options(config, clock).value().bearer);
  config.token = "fixed";
  EXPECT_EQ(transport_options(config, clock).value().bearer(false).value(), "fixed");
  config.token.clear();
  config.token_file = write("token", "from file");
  EXPECT_EQ(transport_options(config, clock).value().bearer(false).value(), "from file");
  config.exec = plugin(counting(path("runs"))).exec;
  EXPECT_THAT(transport_options(config, clock), IsError(ErrorCode::kInvalidArgument)) << "two sources";
  config.token_file.clear();
  EXPECT_EQ(transport_options(config, clock).value().bearer(false).value(), "t1");
}

http::Identity new_identity(const std::string& name) {
  const Timestamp now = RealClock().wall();
  const http::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(1)};
  return http::make_certificate_authority(name, validity).value();
}

TEST_F(CredentialsTest, AuthorityAndClientCertificateAreReadAgainFromTheirFiles) {
  const http::Identity first = new_identity("first");
  const http::Identity second = new_identity("second");
  ClientConfig config;
  config.server = "https://127.0.0.1";
  config.ca = config.client_certificate = first.certificate_chain;
  config.client_key = first.private_key;
  config.ca_file = write("ca.crt", first.certificate_chain);
  config.client_certificate_file = write("tls.crt", first.certificate_chain);
  config.client_key_file = write("tls.key", first.private_key);
  const auto options = transport_options(config, clock).value();
  EXPECT_EQ(options.read_ca().value(), first.certificate_chain);
  EXPECT_EQ(options.identity().value(), first);

  clock.advance(std::chrono::seconds(60));
  write("ca.crt", "half of a certi");
  write("tls.crt", second.certificate_chain);  // The key does not match yet.
  EXPECT_EQ(options.read_ca().value(), first.certificate_chain);
  EXPECT_EQ(options.identity().value(), first);

  clock.advance(std::chrono::seconds(60));
  write("ca.crt", second.certificate_chain);
  write("tls.key", second.private_key);
  EXPECT_EQ(options.read_ca().value(), second.certificate_chain);
  EXPECT_EQ(options.identity().value(), second);
}

TEST_F(CredentialsTest, ClientCertificatesAreCheckedBeforeTheyAreUsed) {
  ClientConfig config;
  config.server = "https://example.com";
  config.client_certificate = "nonsense";
  config.client_key = "nonsense";
  EXPECT_THAT(transport_options(config, clock), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::client
