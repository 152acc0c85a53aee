#include "cmd/kubectl-tpu/read_fleet.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/kubectl-tpu/app.h"
#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::plugin {
namespace {

using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::Not;

/// What a transport refuses, and what it was asked.
struct Rights {
  std::vector<std::string> refused;     ///< Beginnings of paths.
  std::size_t allowed_before = 0;       ///< So many requests to each path are allowed nevertheless.
  std::map<std::string, Json> answers;  ///< Objects that the cluster does not have, by path.
  std::vector<std::string> asked;

  [[nodiscard]] std::size_t times_asked(const std::string& path) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(asked, [&](const std::string& target) { return target.starts_with(path); }));
  }
};

/// Refuses requests to some paths.
class LimitedRights final : public http::Transport {
 public:
  LimitedRights(std::unique_ptr<http::Transport> transport, Rights& rights)
      : transport_(std::move(transport)), rights_(rights) {}

  Result<http::Response> call(const http::Request& request, Duration deadline, std::stop_token stop) override {
    rights_.asked.push_back(request.target);
    for (const std::string& path : rights_.refused) {
      if (!request.target.starts_with(path) || rights_.times_asked(path) <= rights_.allowed_before) continue;
      const Json status = {{"kind", "Status"},
                           {"code", 403},
                           {"reason", "Forbidden"},
                           {"message",
                            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the "
                            "cluster scope"}};
      return http::Response{403, {{"Content-Type", "application/json"}}, status.dump()};
    }
    if (const auto answer = rights_.answers.find(request.target); answer != rights_.answers.end()) {
      return http::Response{200, {{"Content-Type", "application/json"}}, answer->second.dump()};
    }
    return transport_->call(request, deadline, std::move(stop));
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration deadline,
                                             std::stop_token stop) override {
    return transport_->open(request, deadline, std::move(stop));
  }

 private:
  const std::unique_ptr<http::Transport> transport_;
  Rights& rights_;
};

class ReadFleetTest : public ::testing::Test {
 protected:
  ReadFleetTest() : cluster_(clock_) {
    FleetDocument document;
    document.slice({.workload = "train", .pool = "v6e-4x4-a"}).slice({.workload = "next"});
    document.slice({.workload = "serve", .topology = "8x8", .hosts = 2, .waiting = "no node pool is free"});
    for (const Json& pod : document.json()["pods"]) {
      Json created = pod;
      created["metadata"].erase("uid");
      created["metadata"].erase("creationTimestamp");
      created["metadata"].erase("resourceVersion");
      created["spec"].erase("priority");
      created["spec"]["containers"][0]["image"] = "image";
      const auto applied = cluster_.apply(std::move(created));
      EXPECT_TRUE(applied.ok()) << applied.error().message();
    }
  }

  int run(const std::vector<std::string>& arguments, std::vector<std::string> refused = {}) {
    out_.str({});
    err_.str({});
    rights_.refused = std::move(refused);
    rights_.asked.clear();
    return run_app(arguments, {.out = out_,
                               .err = err_,
                               .clock = clock_,
                               .connect = [&](const GlobalOptions&, const Clock&, const Logger&) -> Result<Connection> {
                                 Connection connection;
                                 connection.config.namespace_name = "default";
                                 connection.transport = std::make_unique<LimitedRights>(cluster_.transport(), rights_);
                                 return connection;
                               }});
  }

  FakeClock clock_;
  sim::Cluster cluster_;
  Rights rights_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ReadFleetTest, AnswersFromTheApiServer) {
  EXPECT_EQ(run({"pools", "-o", "name"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("pool/v6e-4x4-a\n"));
  EXPECT_EQ(run({"explain", "jobset/serve"}), 4) << err_.str();
  EXPECT_EQ(run({"what-if", "add", "v6e 8x8"}), 0) << err_.str();
}

TEST_F(ReadFleetTest, WithoutNodesTheReasonsAreThoseOfThePods) {
  EXPECT_EQ(run({"slices", "--waiting"}, {"/api/v1/nodes"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("serve"));
  EXPECT_THAT(err_.str(), HasSubstr("the reasons are those that the operator wrote last"));
  EXPECT_THAT(err_.str(), HasSubstr("kubectl create clusterrolebinding"));
  EXPECT_EQ(run({"explain", "jobset/serve"}, {"/api/v1/nodes"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("no node pool is free"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("Helps:")));
}

TEST_F(ReadFleetTest, CommandsAboutPoolsNameTheMissingRight) {
  for (const char* command : {"status", "pools"}) {
    EXPECT_EQ(run({command}, {"/api/v1/nodes"}), 1) << command;
    EXPECT_THAT(err_.str(), HasSubstr("kubectl create clusterrolebinding")) << command;
  }
}

TEST_F(ReadFleetTest, SaysThatTheOptionsOfTheOperatorAreAssumed) {
  EXPECT_EQ(run({"pools", "-o", "name"}), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("The options of the operator are not known, its defaults are assumed: "));
  Json& deployment = rights_.answers["/apis/apps/v1/namespaces/tpu-slice-system/deployments/tpu-slice-operator"];
  deployment = {{"apiVersion", "apps/v1"},
                {"kind", "Deployment"},
                {"metadata", {{"name", "tpu-slice-operator"}, {"namespace", "tpu-slice-system"}, {"uid", "u"}}}};
  Json& container = deployment["spec"]["template"]["spec"]["containers"][0];
  container = {{"image", "a:1"}, {"args", Json::array({"--leader-election-namespace=tpu-slice-system"})}};
  EXPECT_EQ(run({"pools", "-o", "name"}), 0);
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(run({"explain", "jobset/serve"}), 4);
  EXPECT_THAT(err_.str(), Not(HasSubstr("assumed")));
  container["args"].push_back("--config=/etc/operator.yaml");
  EXPECT_EQ(run({"explain", "jobset/serve"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("Not all options of the operator are known"));
}

TEST_F(ReadFleetTest, ReadsEachPageOfTheHistoryOnce) {
  const Status system = cluster_.apply_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: tpu-slice-system}}");
  ASSERT_TRUE(system.ok()) << system.error().message();
  for (int page = 0; page < 5; ++page) {
    const auto applied = cluster_.apply(
        {{"apiVersion", "v1"},
         {"kind", "ConfigMap"},
         {"metadata", {{"name", fmt::format("tpu-slice-history-{}", page)}, {"namespace", "tpu-slice-system"}}},
         {"data", {{"records", ""}}}});
    ASSERT_TRUE(applied.ok()) << applied.error().message();
  }
  const std::string pages = "/api/v1/namespaces/tpu-slice-system/configmaps/tpu-slice-history-";
  EXPECT_EQ(run({"history"}), 0) << err_.str();
  EXPECT_EQ(rights_.times_asked(pages), 5U);
  EXPECT_EQ(run({"history"}, {pages}), 1) << "a history that may not be read is not an empty one";
  EXPECT_EQ(run({"status"}, {pages}), 4) << err_.str();
}

TEST_F(ReadFleetTest, TopGoesOnAfterAFailedRequest) {
  EXPECT_EQ(run({"top", "--rounds", "1"}, {"/api/v1/nodes"}), 1);
  rights_.allowed_before = 1;
  EXPECT_EQ(run({"top", "--rounds", "2", "--interval", "1"}, {"/api/v1/nodes"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("TOPOLOGY"));
  EXPECT_THAT(err_.str(), HasSubstr("nodes is forbidden"));
}

TEST_F(ReadFleetTest, ReadsTheOwnNamespaceIfThatIsAllThatMayBeRead) {
  EXPECT_EQ(run({"slices", "-n", "default"}, {"/api/v1/pods", "/api/v1/nodes"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("jobset/serve"));
}

}  // namespace
}  // namespace tpuslice::plugin
