#include "controllers/rayservice/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rayservice_plan.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RayServiceServices : public testing::Test {
 protected:
  RayServiceServices() : world_(a_service()) {}
  void settle() { ASSERT_LE(world_.settle(), 40); }

  World world_;
};

TEST_F(RayServiceServices, AreThoseOfUpstream) {
  settle();
  const Json& head = world_.services().at("llm-head-svc");
  EXPECT_EQ(head["metadata"]["labels"], Json::parse(R"({"ray.io/originated-from-cr-name": "llm",
    "ray.io/originated-from-crd": "RayService", "ray.io/node-type": "head", "ray.io/identifier": "llm-head"})"));
  EXPECT_EQ(head["spec"]["selector"]["ray.io/cluster"], world_.active());
  EXPECT_EQ(head["spec"]["clusterIP"], "None");
  const Json& serve = world_.services().at("llm-serve-svc");
  EXPECT_EQ(serve["metadata"]["labels"], Json::parse(R"({"ray.io/originated-from-cr-name": "llm",
    "ray.io/originated-from-crd": "RayService", "ray.io/serve": "llm-serve"})"));
  EXPECT_EQ(serve["spec"]["selector"], Json({{"ray.io/cluster", world_.active()}, {"ray.io/serve", "true"}}));
  EXPECT_EQ(serve["spec"]["ports"], Json::parse(R"([{"name": "serve", "port": 8000}])"));
}

TEST_F(RayServiceServices, TheServeServiceIsAsTheUserDescribesIt) {
  world_.service()["spec"]["serveService"] = Json::parse(R"({"metadata": {"name": "llm-web", "labels": {"a": "b"},
    "annotations": {"c": "d"}}, "spec": {"type": "NodePort", "selector": {"x": "y"},
    "ports": [{"name": "serve", "port": 80, "targetPort": 8000}, {"name": "other", "port": 1}]}})");
  settle();
  const Json& serve = world_.services().at("llm-web");
  EXPECT_EQ(serve["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(serve["metadata"]["annotations"]["c"], "d");
  EXPECT_EQ(serve["spec"]["type"], "NodePort");
  EXPECT_FALSE(serve["spec"]["selector"].contains("x"));
  EXPECT_EQ(serve["spec"]["ports"], Json::parse(R"([{"name": "serve", "port": 80, "targetPort": 8000}])"));
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceServices, AreCreatedWhenTheFirstClusterServes) {
  for (int i = 0; i < 4; ++i) {
    world_.step();
    world_.advance();
    EXPECT_TRUE(world_.services().empty());
  }
}

TEST_F(RayServiceServices, ThatDriftAreRestored) {
  settle();
  world_.services().at("llm-serve-svc")["spec"]["ports"][0]["port"] = 1;
  world_.services().at("llm-head-svc")["metadata"]["labels"].erase("ray.io/identifier");
  settle();
  EXPECT_EQ(world_.services().at("llm-serve-svc")["spec"]["ports"][0]["port"], 8000);
  EXPECT_TRUE(world_.services().at("llm-head-svc")["metadata"]["labels"].contains("ray.io/identifier"));
}

/// A quota may not allow a second cluster.
TEST_F(RayServiceServices, AreWrittenIfAnotherClusterIsRefused) {
  settle();
  world_.config()["rayVersion"] = "2.99.0";
  world_.services().at("llm-serve-svc")["spec"]["ports"][0]["port"] = 1;
  RayServiceObserved seen = world_.observed();
  seen.last_failure = {std::string(kFailedRayCluster), "exceeded quota", seen.now};
  const plan::Plan waiting = plan_rayservice(seen, world_.options);
  EXPECT_THAT(writes_of(waiting, "create RayCluster"), IsEmpty());
  EXPECT_THAT(writes_of(waiting, "patch Service"), ElementsAre("patch Service llm-serve-svc"));
  EXPECT_TRUE(waiting.keeps_failure) << "its requests are sent, and the failure stays in the status";
  EXPECT_EQ(waiting.requeue_after, plan::kRefusalRetry);
  seen.last_failure->time -= plan::kRefusalRetry;
  const plan::Plan retried = plan_rayservice(seen, world_.options);
  EXPECT_THAT(writes_of(retried, "create RayCluster"), SizeIs(1));
  for (const plan::Stage& stage : retried.stages) {
    EXPECT_EQ(stage.continue_on_failure, stage.actions.front().kind == plan::ActionKind::kCreate);
  }
}

TEST_F(RayServiceServices, OfAnotherOwnerAreReportedAndNotTouched) {
  const Json other = Json::parse(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "llm-serve-svc",
    "namespace": "default"}, "spec": {"selector": {"a": "b"}}})");
  world_.add_service(other);
  for (int i = 0; i < 12; ++i) {
    world_.step();
    world_.advance();
  }
  EXPECT_EQ(world_.condition(plan::kChildrenReady), "False: ServiceConflict");
  EXPECT_EQ(world_.services().at("llm-serve-svc")["spec"]["selector"]["a"], "b");
  EXPECT_EQ(world_.active(), "");
  EXPECT_TRUE(world_.plan().empty());
  EXPECT_EQ(world_.plan().requeue_after, plan::kConflictRetry);
  world_.services().erase("llm-serve-svc");
  settle();
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

}  // namespace
}  // namespace tpuslice::rayservice
