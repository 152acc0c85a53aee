// /metrics over HTTPS, read with curl as Prometheus does: the real API server decides who may.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "tests/e2e/metrics/service_account_token.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr ResourceType kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};
constexpr ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false};
constexpr const char* kHost = "tpu-slice-operator-metrics.tpu-slice-system.svc";

struct CurlAnswer {
  int status = 0;  ///< 0 without an answer.
  std::string body;
};

class SecureMetrics : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.scheduler = false, .kwok = false});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = std::move(*plane);
    const auto kubeconfig = install_operator(*plane_);
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    const auto port = free_port();
    ASSERT_TRUE(port.ok());
    ASSERT_TRUE(register_webhook(plane_->client(), *port).ok());
    // Before the operator starts: the API server reads bindings from a cache.
    create_account("prometheus", "tpu-slice-metrics-reader");
    create_account("tenant", "");
    auto started = OperatorProcess::start({.kubeconfig = *kubeconfig,
                                           .log = plane_->dir() + "/operator.log",
                                           .webhook_port = *port,
                                           .metrics_secure = true});
    ASSERT_TRUE(started.ok()) << started.error().message();
    operator_ = std::move(*started);
    write_authority();
  }
  void TearDown() override {
    if (HasFailure() && plane_) plane_->keep_dir();
  }

  /// ca.crt of the operator's Secret, which a ServiceMonitor names.
  void write_authority() {
    const auto secret = plane_->client().get(kSecrets, {"tpu-slice-system", "tpu-slice-webhook-cert"});
    ASSERT_TRUE(secret.ok()) << secret.error().message();
    const std::string ca = decode_base64(string_at(secret->json(), {"data", "ca.crt"})).value_or("");
    ASSERT_TRUE(write_private_file(plane_->dir() + "/metrics-ca.crt", ca).ok());
  }

  void create_account(const std::string& name, const std::string& role) {
    const Object account(Json{
        {"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", name}, {"namespace", "default"}}}});
    const auto created = plane_->client().create(kServiceAccounts, account);
    ASSERT_TRUE(created.ok()) << created.error().message();
    uids_[name] = created->uid();
    if (role.empty()) return;
    const Object binding(
        Json{{"apiVersion", "rbac.authorization.k8s.io/v1"},
             {"kind", "ClusterRoleBinding"},
             {"metadata", {{"name", name}}},
             {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role}}},
             {"subjects", {{{"kind", "ServiceAccount"}, {"name", name}, {"namespace", "default"}}}}});
    const auto bound = plane_->client().create(kBindings, binding);
    ASSERT_TRUE(bound.ok()) << bound.error().message();
  }

  /// Issued by the API server.
  std::string token_of(const std::string& account) {
    http::Request request;
    request.method = "POST";
    request.target = fmt::format("/api/v1/namespaces/default/serviceaccounts/{}/token", account);
    request.headers = {{"Content-Type", "application/json"}};
    request.body =
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}})";
    const auto response = plane_->client().raw(request);
    EXPECT_TRUE(response.ok()) << response.error().message();
    return response ? string_at(Json::parse(response->body), {"status", "token"}) : "";
  }

  /// The certificate must be one of the operator's authority, for the name of the Service.
  CurlAnswer curl(const std::string& token, const std::string& path = "/metrics") {
    const int port = operator_->metrics_port();
    const std::string body = plane_->dir() + "/curl.body";
    const std::string out = plane_->dir() + "/curl.out";
    std::ofstream(out, std::ios::trunc);
    std::vector<std::string> args = {"-s",         "-S",
                                     "--max-time", "20",
                                     "-o",         body,
                                     "-w",         "%{http_code}",
                                     "--cacert",   plane_->dir() + "/metrics-ca.crt",
                                     "--resolve",  fmt::format("{}:{}:127.0.0.1", kHost, port)};
    if (!token.empty()) {
      args.emplace_back("-H");
      args.push_back("Authorization: Bearer " + token);
    }
    args.push_back(fmt::format("https://{}:{}{}", kHost, port, path));
    const auto process = Process::start({.program = "/usr/bin/curl", .args = args, .log = out});
    EXPECT_TRUE(process.ok());
    EXPECT_TRUE((*process)->wait(30s).has_value());
    CurlAnswer answer;
    answer.status = std::atoi(read_file(out).value_or("").c_str());
    answer.body = answer.status == 0 ? read_file(out).value_or("") : read_file(body).value_or("");
    return answer;
  }

  std::map<std::string, std::string> uids_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<OperatorProcess> operator_;
};

TEST_F(SecureMetrics, AreServedToAServiceAccountThatMayReadThem) {
  const std::string token = token_of("prometheus");
  ASSERT_TRUE(eventually([&] { return curl(token).status == 200; }))
      << curl(token).body << last_lines(operator_->log(), 5);
  const auto samples = parse_metrics(curl(token).body);
  ASSERT_TRUE(samples.ok()) << samples.error().message();
  EXPECT_GT(sum_of(*samples, "process_resident_memory_bytes"), 0);
  EXPECT_GT(sum_of(*samples, "tpuslice_certificate_expiry_timestamp_seconds", {{"server", "metrics"}}), 1e9);
  EXPECT_EQ(sum_of(*samples, "rest_client_requests_total", {{"code", "403"}}), 0)
      << "the permissions of deploy/rbac are enough";
  EXPECT_EQ(curl(token, "/debug").status, 404);
}

TEST_F(SecureMetrics, AreRefusedToOthers) {
  EXPECT_EQ(curl("").status, 401);
  EXPECT_EQ(curl("not-a-token").status, 401);
  const CurlAnswer tenant = curl(token_of("tenant"));
  EXPECT_EQ(tenant.status, 403);
  EXPECT_THAT(tenant.body, HasSubstr("user \"system:serviceaccount:default:tenant\" cannot get path \"/metrics\""));

  const std::string deleted = token_of("prometheus");
  ASSERT_TRUE(plane_->client().remove(kServiceAccounts, {"default", "prometheus"}, {}, {}).ok());
  EXPECT_TRUE(eventually([&] { return curl(deleted).status == 401; }, 90s)) << "the account is deleted";
}

TEST_F(SecureMetrics, AreRefusedToAnExpiredToken) {
  const Timestamp now = RealClock().wall();
  const ObjectKey account{"default", "prometheus"};
  const auto valid = sign_token(plane_->dir(), account, uids_["prometheus"], now + 10min);
  ASSERT_TRUE(valid.ok()) << valid.error().message();
  EXPECT_EQ(curl(*valid).status, 200);
  const auto expired = sign_token(plane_->dir(), account, uids_["prometheus"], now - 10min);
  EXPECT_EQ(curl(*expired).status, 401);
}

TEST_F(SecureMetrics, FailClosedWithoutTheApiServerAndKeepKnownClientsForAMinute) {
  const std::string token = token_of("prometheus");
  const std::string other = token_of("tenant");
  ASSERT_EQ(curl(token).status, 200);
  plane_->kill_apiserver();
  EXPECT_EQ(curl(token).status, 200) << "decided less than a minute ago";
  EXPECT_EQ(curl(other).status, 503);
  EXPECT_EQ(curl("").status, 401);
  EXPECT_THAT(read_file(operator_->log()).value_or(""), HasSubstr("request not authorized"));
}

TEST_F(SecureMetrics, AFloodOfTokensIsAFewReviews) {
  const std::string token = token_of("prometheus");
  for (int i = 0; i < 60; ++i) static_cast<void>(curl("guess-" + std::to_string(i)));
  EXPECT_TRUE(eventually([&] { return curl(token).status == 200; })) << "a client of the same address waits its turn";
  const auto samples = parse_metrics(curl(token).body);
  ASSERT_TRUE(samples.ok());
  GTEST_LOG_(INFO) << "POST requests: " << sum_of(*samples, "rest_client_requests_total", {{"method", "POST"}});
  EXPECT_LT(sum_of(*samples, "rest_client_requests_total", {{"method", "POST"}}), 40);
}

}  // namespace
}  // namespace tpuslice::testing
