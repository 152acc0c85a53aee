#include "cmd/tpu-slice-sim/server/https_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/client/network_transport.h"
#include "api/types/yaml.h"
#include "tests/unit/cmd/tpu-slice-sim/test_server.h"

namespace tpuslice::sim {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpsListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HttpsListenerOptions options;
    options.tokens["secret"] = {"robot", {"robots"}};
    auto started = HttpsListener::start(server, clock, std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().message();
    listener = *std::move(started);
  }

  std::unique_ptr<http::Transport> connect(http::TransportOptions options) {
    options.server = listener->url();
    options.ca = listener->ca();
    auto transport = http::make_network_transport(std::move(options));
    return transport.ok() ? *std::move(transport) : nullptr;
  }

  static http::Response get(http::Transport& transport, const std::string& target) {
    const auto response = transport.call({"GET", target, {}, {}}, seconds(10), {});
    return response.ok() ? *response : http::Response{599, {}, response.error().message()};
  }

  RealClock clock;  // Certificates are checked against the machine's time.
  Storage storage;
  Registry registry{storage, clock};
  ApiServer server{registry};
  std::unique_ptr<HttpsListener> listener;
};

TEST_F(HttpsListenerTest, ServesOnlyHealthAndVersionWithoutCredentials) {
  const auto transport = connect({});
  EXPECT_EQ(get(*transport, "/healthz").status, 200);
  EXPECT_EQ(get(*transport, "/version").status, 200);
  const http::Response refused = get(*transport, kPodsPath);
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.body, HasSubstr("\"reason\":\"Unauthorized\""));
}

TEST_F(HttpsListenerTest, AuthenticatesUsersByTokenAndByCertificate) {
  std::string seen;
  registry.set_admission([&seen](const AdmissionRequest& request) -> Result<Json> {
    seen = request.options.user.name + " of " + request.options.user.groups.front();
    return request.object;
  });
  const auto create = [&](http::TransportOptions options, const std::string& name) {
    const auto transport = connect(std::move(options));
    const auto response = transport->call(
        TestServer::request("POST", kConfigMapsPath, config_map(name), "application/json", ""), seconds(10), {});
    return response.ok() ? response->status : 0;
  };
  http::TransportOptions by_token;
  by_token.bearer = [](bool) { return Result<std::optional<std::string>>("secret"); };
  EXPECT_EQ(create(std::move(by_token), "a"), 201);
  EXPECT_EQ(seen, "robot of robots");

  const auto identity = listener->issue({"alice", {"team"}});
  ASSERT_TRUE(identity.ok());
  http::TransportOptions by_certificate;
  by_certificate.identity = [identity = *identity] { return Result<std::optional<http::Identity>>(identity); };
  EXPECT_EQ(create(std::move(by_certificate), "b"), 201);
  EXPECT_EQ(seen, "alice of team");
}

TEST_F(HttpsListenerTest, StreamsAWatch) {
  http::TransportOptions options;
  options.bearer = [](bool) { return Result<std::optional<std::string>>("secret"); };
  const auto transport = connect(std::move(options));
  auto stream = transport->open({"GET", kConfigMapsPath + "?watch=1", {}, {}}, seconds(10), {});
  ASSERT_TRUE(stream.ok()) << stream.error().message();
  const ResourcePtr resource = registry.resources().find_id("configmaps");
  Json object = config_map("a");
  object["metadata"]["namespace"] = "default";
  ASSERT_TRUE(registry.create(*resource, Object(object)).ok());
  const auto text = (*stream)->read(seconds(10), {});
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_THAT(*text, StartsWith("{\"type\":\"ADDED\""));
}

TEST_F(HttpsListenerTest, WritesAKubeconfigForItself) {
  const auto config = parse_yaml(listener->kubeconfig());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(string_at(*config, {"clusters", "0", "cluster", "server"}), listener->url());
  EXPECT_EQ(string_at(*config, {"current-context"}), string_at(*config, {"contexts", "0", "name"}));
}

}  // namespace
}  // namespace tpuslice::sim
