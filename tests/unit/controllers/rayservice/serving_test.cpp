// Giving clusters the Serve configuration.
#include "controllers/rayservice/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using plan::HasEvent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ServeConfigOfCluster : public testing::Test {
 protected:
  ServeConfigOfCluster() : world_(a_service()) {}

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      plans_.push_back(world_.step());
      world_.advance();
    }
  }
  void settle() { ASSERT_LE(world_.settle(), 40); }
  [[nodiscard]] std::string record() { return string_at(the_cluster(), {"metadata", "annotations", kServeConfig}); }
  [[nodiscard]] Json& the_cluster() { return world_.clusters().begin()->second; }
  [[nodiscard]] World::Ray& ray() { return world_.ray(world_.clusters().begin()->first); }
  [[nodiscard]] std::string message(std::string_view condition) {
    for (const Json& each : world_.service()["status"]["conditions"]) {
      if (each["type"] == condition) return each["message"];
    }
    return {};
  }

  World world_;
  std::vector<plan::Plan> plans_;
};

TEST_F(ServeConfigOfCluster, IsSentOnceAfterTheApplicationsWereAskedFor) {
  rounds(1);
  ASSERT_THAT(plans_.back().requests, IsEmpty());
  rounds(1);
  ASSERT_THAT(plans_.back().requests, SizeIs(1));
  EXPECT_EQ(plans_.back().requests[0].method, "GET");
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: DashboardPending");
  rounds(1);
  EXPECT_THAT(record(), testing::EndsWith(".1.sent"));
  settle();
  EXPECT_EQ(ray().puts, 1);
  EXPECT_THAT(record(), testing::EndsWith(".1"));
  EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
}

TEST_F(ServeConfigOfCluster, IsRecordedBeforeItIsSent) {
  rounds(3);
  const plan::Plan& plan = plans_.back();
  const auto put = std::ranges::find(plan.requests, "PUT", &plan::WorkloadRequest::method);
  ASSERT_NE(put, plan.requests.end());
  EXPECT_EQ(put->attempt, 1);
  ASSERT_THAT(plan.stages, SizeIs(1));
  EXPECT_THAT(action_of(plan, "patch RayCluster " + world_.clusters().begin()->first).body.make().value().dump(),
              HasSubstr(".1.sent"));
}

TEST_F(ServeConfigOfCluster, ThatWasAcceptedIsNotSentAgainByAnotherOperator) {
  settle();
  world_.restart_operator();
  settle();
  EXPECT_EQ(ray().puts, 1);
}

TEST_F(ServeConfigOfCluster, ThatWasSentByAnotherOperatorIsSentAgainOnlyAfterTheApplicationsWereAskedFor) {
  rounds(3);
  ASSERT_THAT(record(), testing::EndsWith(".1.sent"));
  world_.restart_operator();
  const plan::Plan plan = world_.plan();
  EXPECT_THAT(plan.requests, testing::Contains(testing::Field(&plan::WorkloadRequest::method, "GET")));
  EXPECT_THAT(plan.requests, Not(testing::Contains(testing::Field(&plan::WorkloadRequest::method, "PUT"))));
  settle();
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(ServeConfigOfCluster, IsSentWhenItChanges) {
  settle();
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("other");
  settle();
  EXPECT_EQ(ray().puts, 2);
  EXPECT_EQ(ray().config["applications"][0]["name"], "other");
  EXPECT_TRUE(world_.service()["status"]["activeServiceStatus"]["applicationStatuses"].contains("other"));
  EXPECT_THAT(world_.clusters(), SizeIs(1));
}

TEST_F(ServeConfigOfCluster, ThatIsRevertedWhileItIsSentIsSentAsItWas) {
  settle();
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("other");
  world_.step();  // Sent, without an answer yet.
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("app");
  settle();
  EXPECT_EQ(ray().config["applications"][0]["name"], "app");
}

TEST_F(ServeConfigOfCluster, IsSentAgainWhenTheHeadHasLostItsApplications) {
  settle();
  ray().config = nullptr;
  rounds(2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ApplicationsLost");
  settle();
  EXPECT_EQ(ray().puts, 2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
}

TEST_F(ServeConfigOfCluster, IsSentAgainWhenTheClusterReportsOtherApplications) {
  settle();
  ray().config["applications"][0]["name"] = "other";
  rounds(2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ApplicationsLost");
  settle();
  EXPECT_EQ(ray().puts, 2);
  EXPECT_EQ(ray().config["applications"][0]["name"], "app");
  EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
}

// A replica that lost its lease, or another client, has sent an application of the same name.
TEST_F(ServeConfigOfCluster, IsSentAgainWhenAnotherConfigurationWasSentSince) {
  settle();
  const Json accepted = ray().config;
  for (const int puts : {2, 3}) {  // The same one twice.
    ray().config["applications"][0]["import_path"] = "serve:old";
    rounds(2);
    EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ConfigOverwritten");
    settle();
    EXPECT_EQ(ray().puts, puts);
    EXPECT_EQ(ray().config, accepted);
    EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
    EXPECT_THAT(record(), testing::EndsWith(fmt::format(".{}", puts)));
  }
}

TEST_F(ServeConfigOfCluster, IsSentAgainWhenAnApplicationWasAdded) {
  settle();
  ray().config["applications"].push_back({{"name", "old"}, {"import_path", "serve:old"}});
  rounds(2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ConfigOverwritten");
  settle();
  EXPECT_EQ(ray().puts, 2);
  EXPECT_THAT(ray().config["applications"], SizeIs(1));
}

TEST_F(ServeConfigOfCluster, ThatRayReportsWithOtherMembersIsSentAgainOnce) {
  rounds(1);
  ray().adds_members = true;
  settle();
  rounds(10);
  EXPECT_EQ(ray().puts, 2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
  world_.restart_operator();
  settle();
  EXPECT_EQ(ray().puts, 2);
  // Another configuration is still found.
  ray().config["applications"][0]["import_path"] = "serve:old";
  rounds(2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ConfigOverwritten");
}

TEST_F(ServeConfigOfCluster, WithoutApplicationsIsNotSent) {
  world_.service()["spec"].erase("serveConfigV2");
  settle();
  EXPECT_EQ(ray().puts, 0);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
}

TEST_F(ServeConfigOfCluster, ThatIsRemovedRemovesTheApplicationsOnce) {
  settle();
  world_.service()["spec"].erase("serveConfigV2");
  settle();
  EXPECT_EQ(ray().puts, 2);
  EXPECT_THAT(ray().config["applications"], IsEmpty());
}

TEST_F(ServeConfigOfCluster, WithoutAnAnswerIsSentAgainAfterAWhile) {
  rounds(2);
  world_.step();
  ray().answer_status = 0;
  world_.advance();
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ConfigPending");
  rounds(6);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: DashboardFailing");
  EXPECT_EQ(ray().puts, 1) << "the applications cannot be asked for";
  ray().answer_status = 200;
  settle();
  EXPECT_EQ(ray().puts, 2);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "True: ServeConfigApplied");
}

TEST_F(ServeConfigOfCluster, ThatIsRefusedIsReportedOnceAndSentAgainSeldom) {
  rounds(2);
  ray().put_status = 400;
  int refusals = 0;
  for (int i = 0; i < 30; ++i) {
    const plan::Plan plan = world_.step();
    if (std::ranges::any_of(plan.events,
                            [](const auto& event) { return event.reason == "FailedToUpdateServeApplications"; }))
      ++refusals;
    world_.advance();
  }
  EXPECT_LE(ray().puts, 4);
  EXPECT_LE(refusals, 2);
}

TEST_F(ServeConfigOfCluster, ADashboardThatFailsKeepsTheStatus) {
  settle();
  const Json before = world_.service()["status"];
  ray().answer_status = 500;
  settle();
  EXPECT_EQ(world_.service()["status"], before);
}

TEST_F(ServeConfigOfCluster, DuringAnUpgradeGoesToThePendingClusterOnly) {
  settle();
  const std::string first = world_.active();
  world_.config()["rayVersion"] = "2.60.0";
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("other");
  world_.step();
  const std::string second = world_.pending();
  world_.ray(second).statuses["other"] = "DEPLOYING";
  for (int i = 0; i < 8; ++i) rounds(1);
  EXPECT_EQ(world_.ray(first).puts, 1);
  EXPECT_EQ(world_.ray(second).puts, 1);
  const Json& status = world_.service()["status"];
  EXPECT_EQ(status["activeServiceStatus"]["applicationStatuses"]["app"]["status"], "RUNNING");
  EXPECT_EQ(status["pendingServiceStatus"]["applicationStatuses"]["other"]["status"], "DEPLOYING");
  EXPECT_EQ(
      status["pendingServiceStatus"]["applicationStatuses"]["other"]["serveDeploymentStatuses"]["model"]["status"],
      "HEALTHY");
}

TEST_F(ServeConfigOfCluster, AClusterIsNotReadyWhileOneApplicationDoesNotRun) {
  world_.service()["spec"]["serveConfigV2"] = "applications: [{name: a, import_path: x}, {name: b, import_path: y}]";
  rounds(1);
  ray().statuses["b"] = "UNHEALTHY";
  rounds(12);
  EXPECT_EQ(world_.active(), "");
  ray().statuses.clear();
  settle();
  EXPECT_NE(world_.active(), "");
}

TEST_F(ServeConfigOfCluster, WithATokenTheRequestsHaveIt) {
  world_.config()["authOptions"]["mode"] = "token";
  world_.config()["rayVersion"] = "2.52.0";
  rounds(2);
  ASSERT_THAT(plans_.back().requests, SizeIs(1));
  EXPECT_EQ(plans_.back().requests[0].token->key, "auth_token");
}

}  // namespace
}  // namespace tpuslice::rayservice
