#include "cmd/kubectl-tpu/read_fleet.h"

#include <sstream>
#include <utility>

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

/// Refuses requests to paths that begin with one of these.
class LimitedRights final : public http::Transport {
 public:
  LimitedRights(std::unique_ptr<http::Transport> transport, std::vector<std::string> refused)
      : transport_(std::move(transport)), refused_(std::move(refused)) {}

  Result<http::Response> call(const http::Request& request, Duration deadline, std::stop_token stop) override {
    for (const std::string& path : refused_) {
      if (!request.target.starts_with(path)) continue;
      const Json status = {{"kind", "Status"},
                           {"code", 403},
                           {"reason", "Forbidden"},
                           {"message",
                            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the "
                            "cluster scope"}};
      return http::Response{403, {{"Content-Type", "application/json"}}, status.dump()};
    }
    return transport_->call(request, deadline, std::move(stop));
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration deadline,
                                             std::stop_token stop) override {
    return transport_->open(request, deadline, std::move(stop));
  }

 private:
  const std::unique_ptr<http::Transport> transport_;
  const std::vector<std::string> refused_;
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
    return run_app(arguments, {.out = out_,
                               .err = err_,
                               .clock = clock_,
                               .connect = [&](const GlobalOptions&, const Clock&, const Logger&) -> Result<Connection> {
                                 Connection connection;
                                 connection.config.namespace_name = "default";
                                 connection.transport =
                                     std::make_unique<LimitedRights>(cluster_.transport(), std::move(refused));
                                 return connection;
                               }});
  }

  FakeClock clock_;
  sim::Cluster cluster_;
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

TEST_F(ReadFleetTest, ReadsTheOwnNamespaceIfThatIsAllThatMayBeRead) {
  EXPECT_EQ(run({"slices", "-n", "default"}, {"/api/v1/pods", "/api/v1/nodes"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("jobset/serve"));
}

}  // namespace
}  // namespace tpuslice::plugin
