// Label ray.io/serve, and the readiness of pods of RayServices.
#include "controllers/rayservice/serve_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using plan::HasEvent;
using testing::HasSubstr;
using testing::Not;

class ServeLabels : public testing::Test {
 protected:
  explicit ServeLabels(Json service = a_service()) : world_(std::move(service)) {}

  void settle() { ASSERT_LE(world_.settle(), 40); }
  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      world_.step();
      world_.advance();
    }
  }
  [[nodiscard]] std::string cluster() { return world_.clusters().begin()->first; }
  [[nodiscard]] Json& pod(const std::string& which) { return world_.pods().at(world_.pod_of(cluster(), which)); }
  [[nodiscard]] std::string label(const std::string& which) {
    return string_at(pod(which), {"metadata", "labels", raycluster::kServe});
  }

  World world_;
};

class MultiHostServeLabels : public ServeLabels {
 protected:
  MultiHostServeLabels() : ServeLabels(a_multi_host_service()) {}
};

TEST_F(ServeLabels, TheHeadServesOnceItsProxyAnswers) {
  rounds(2);
  EXPECT_EQ(label("head"), "false");
  settle();
  EXPECT_EQ(label("head"), "true");
}

TEST_F(ServeLabels, AnExcludedHeadNeverServes) {
  world_.service()["spec"]["excludeHeadPodFromServeSvc"] = true;
  settle();
  EXPECT_EQ(label("head"), "false");
  EXPECT_EQ(world_.service()["status"]["numServeEndpoints"], 1);
  world_.service()["spec"]["excludeHeadPodFromServeSvc"] = false;
  settle();
  EXPECT_EQ(label("head"), "true");
}

TEST_F(ServeLabels, StayAsTheyAreWhileNothingOfTheHeadAnswers) {
  settle();
  world_.ray(cluster()).answer_status = 0;
  rounds(10);
  EXPECT_EQ(label("head"), "true");
}

TEST_F(ServeLabels, AreNotWrittenAgainByAnotherOperator) {
  settle();
  world_.restart_operator();
  const std::size_t writes = world_.writes();
  rounds(5);
  EXPECT_EQ(world_.writes(), writes);
}

TEST_F(ServeLabels, ASingleHostWorkerServesAndIsReadyWhenItsProxyIs) {
  rounds(2);
  EXPECT_EQ(label("0-"), "true");
  const Json& probe = pod("0-")["spec"]["containers"][0]["readinessProbe"];
  EXPECT_THAT(probe["exec"]["command"].dump(), HasSubstr("localhost:8000/-/healthz"));
  EXPECT_EQ(probe["failureThreshold"], 1);
}

TEST_F(ServeLabels, PodsHaveUpstreamsEnvironment) {
  rounds(2);
  for (const char* which : {"head", "0-"}) {
    const std::string env = pod(which)["spec"]["containers"][0]["env"].dump();
    for (const char* name : {"RAY_timeout_ms_task_wait_for_death_info", "RAY_gcs_server_request_timeout_seconds",
                             "RAY_SERVE_KV_TIMEOUT_S"}) {
      EXPECT_THAT(env, HasSubstr(name)) << which;
    }
  }
}

TEST_F(MultiHostServeLabels, HostsAreReadyWithoutAProxy) {
  rounds(2);
  for (const char* host : {"0-0", "0-1", "0-2", "0-3"}) {
    EXPECT_EQ(label(host), "false");
    EXPECT_THAT(pod(host)["spec"]["containers"][0]["readinessProbe"].dump(), Not(HasSubstr("-/healthz")));
  }
}

TEST_F(MultiHostServeLabels, HostsServeWhileServeReportsTheirProxy) {
  settle();
  EXPECT_EQ(world_.service()["status"]["numServeEndpoints"], 1) << "the head";
  world_.ray(cluster()).proxies = {world_.pod_of(cluster(), "0-1")};
  settle();
  EXPECT_EQ(label("0-1"), "true");
  EXPECT_EQ(label("0-0"), "false");
  EXPECT_EQ(world_.service()["status"]["numServeEndpoints"], 2);
  world_.ray(cluster()).proxies = {world_.pod_of(cluster(), "0-2")};
  settle();
  EXPECT_EQ(label("0-1"), "false");
  EXPECT_EQ(label("0-2"), "true");
}

TEST_F(MultiHostServeLabels, HostsStayAsTheyAreWhileServeDoesNotReport) {
  settle();
  world_.ray(cluster()).proxies = {world_.pod_of(cluster(), "0-1")};
  settle();
  world_.ray(cluster()).answer_status = 500;
  rounds(10);
  EXPECT_EQ(label("0-1"), "true");
}

}  // namespace
}  // namespace tpuslice::rayservice
