#include "controllers/disaggregatedset/scalers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using plan::HasEvent;
using testing::ElementsAre;

World an_external_world() {
  World world(a_set({{"prefill", 2}, {"decode", 5, true}}));
  world.settle();
  return world;
}

TEST(Scalers, ANewRoleBeginsWithOneReplica) {
  World world(a_set({{"prefill", 2}, {"decode", 5, true}}));
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan, HasEvent("ScalerCreated"));
  const Json& scaler = world.scalers().at("llm-decode");
  EXPECT_EQ(int_at(scaler, {"spec", "replicas"}), 1);
  EXPECT_EQ(scaler["metadata"]["labels"],
            Json({{"disaggregatedset.x-k8s.io/name", "llm"}, {"disaggregatedset.x-k8s.io/role", "decode"}}));
  EXPECT_EQ(picture(world), "0 decode 1 new, 0 prefill 2 new");
}

TEST(Scalers, ARoleThatBecomesExternalKeepsItsReplicas) {
  World world;
  world.settle();
  world.change_set("/spec/roles/1/scaling", {{"mode", "External"}});
  world.settle();
  EXPECT_EQ(int_at(world.scalers().at("llm-decode"), {"spec", "replicas"}), 2);
  EXPECT_EQ(picture(world), "0 decode 2 new, 0 prefill 2 new");
}

TEST(Scalers, TheSetFollowsItsScaler) {
  World world = an_external_world();
  world.scale_external("decode", 4);
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan, HasEvent("ScalingUp"));
  EXPECT_EQ(picture(world), "0 decode 4 new, 0 prefill 2 new");
  world.settle();
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
}

TEST(Scalers, HaveTheStatusThatAnAutoscalerReads) {
  World world = an_external_world();
  world.scale_external("decode", 3);
  world.settle();
  const Json& scaler = world.scalers().at("llm-decode");
  EXPECT_EQ(int_at(scaler, {"status", "replicas"}), 3);
  EXPECT_EQ(int_at(scaler, {"status", "observedGeneration"}), 2);
  EXPECT_EQ(string_at(scaler, {"status", "selector"}),
            "disaggregatedset.x-k8s.io/name=llm,disaggregatedset.x-k8s.io/role=decode,"
            "leaderworkerset.sigs.k8s.io/worker-index=0");
  const Json& ready = scaler.at("status").at("conditions").at(0);
  EXPECT_EQ(string_at(ready, {"type"}), "Ready");
  EXPECT_EQ(string_at(ready, {"reason"}), "Bound");
  EXPECT_EQ(string_at(ready, {"status"}), "True");
}

TEST(Scalers, TheirStatusCountsAllRevisions) {
  World world = an_external_world();
  world.scale_external("decode", 2);
  world.settle();
  world.use_image("serve:2");
  for (int round = 0; round < 2; ++round) {
    world.step();
    world.advance();
  }
  world.step();
  EXPECT_EQ(int_at(world.scalers().at("llm-decode"), {"status", "replicas"}), 3);
}

TEST(Scalers, AreDeletedWhenTheRoleIsStaticAgain) {
  World world = an_external_world();
  world.change_set("/spec/roles/1/scaling", {{"mode", "Static"}});
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan::writes_of(plan, "delete DisaggregatedSetRoleScaler"),
              ElementsAre("delete DisaggregatedSetRoleScaler llm-decode"));
  EXPECT_THAT(plan, HasEvent("ScalerDeleted"));
  EXPECT_EQ(picture(world), "0 decode 5 new, 0 prefill 2 new");
}

TEST(Scalers, ADeletedOneIsCreatedWithTheReplicasOfTheRole) {
  World world = an_external_world();
  world.scale_external("decode", 6);
  world.settle();
  world.scalers().clear();
  world.settle();
  EXPECT_EQ(int_at(world.scalers().at("llm-decode"), {"spec", "replicas"}), 6);
}

TEST(Scalers, OneThatIsBeingDeletedIsWaitedFor) {
  World world = an_external_world();
  world.scalers().at("llm-decode")["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
  EXPECT_THAT(plan::writes_of(world.plan()), testing::IsEmpty());
  EXPECT_EQ(world.plan().requeue_after, plan::kConflictRetry);
  EXPECT_EQ(picture(world), "0 decode 1 new, 0 prefill 2 new");
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
