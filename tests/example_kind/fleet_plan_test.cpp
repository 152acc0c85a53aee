#include "tests/example_kind/fleet_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "tests/example_kind/fleet_world.h"
#include "tests/example_kind/render.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::example {
namespace {

using plan::HasEvent;
using plan::Plan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

FleetWorld settled(const FleetShape& shape = {}) {
  FleetWorld world(shape);
  EXPECT_LE(world.settle(), 12);
  return world;
}

/// "True", "False", or "" if it is absent.
std::string condition(const FleetWorld& world, std::string_view type) {
  return condition_status(array_at(world.status(), {"conditions"}), type);
}

TEST(FleetPlan, CreatesTheServiceAndTheFlagThenAllPods) {
  const Plan plan = FleetWorld().plan();
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("create Service north", "create ConfigMap north-flag"),
                                           ElementsAre("create Pod north-0-0", "create Pod north-0-1",
                                                       "create Pod north-1-0", "create Pod north-1-1")));
  ASSERT_TRUE(plan.status.has_value());
  EXPECT_EQ(plan.status->status["readyShips"], 0);
}

TEST(FleetPlan, GivesEachPodItsIdentity) {
  const Plan plan = FleetWorld().plan();
  const Result<Json> pod = action_of(plan, "create Pod north-1-1").body.make();
  ASSERT_TRUE(pod.ok()) << pod.error().message();
  EXPECT_EQ(string_at(*pod, {"spec", "hostname"}), "north-1-1");
  EXPECT_EQ(string_at(*pod, {"spec", "subdomain"}), "north");
  EXPECT_EQ(string_at(*pod, {"spec", "schedulingGates", "0", "name"}), "tpuslice.dev/slice");
  EXPECT_EQ(string_at(*pod, {"metadata", "annotations", "tpuslice.dev/slice-host"}), "1");
  EXPECT_NE(string_at(*pod, {"metadata", "labels", "tpuslice.dev/slice"}), "");
}

TEST(FleetPlan, ASettledFleetIsReadyAndSaysSoOnce) {
  FleetWorld world;
  world.step();
  world.advance();
  EXPECT_THAT(world.plan(), HasEvent("FleetReady"));
  ASSERT_LE(world.settle(), 12);
  EXPECT_EQ(world.status()["readyShips"], 2);
  EXPECT_EQ(condition(world, "Ready"), "True");
  EXPECT_EQ(condition(world, "tpuslice.dev/Accepted"), "True");
  EXPECT_EQ(condition(world, "tpuslice.dev/SlicesPlaced"), "True");
  EXPECT_THAT(world.plan(), plan::IsEmptyPlan());
}

TEST(FleetPlan, DeletesTheShipsThatAFleetNoLongerHas) {
  FleetWorld world = settled({.ships = 3});
  world.set_spec("ships", 1);
  EXPECT_THAT(writes_of(world.plan(), "delete Pod"),
              UnorderedElementsAre("delete Pod north-1-0", "delete Pod north-1-1", "delete Pod north-2-0",
                                   "delete Pod north-2-1"));
  ASSERT_LE(world.settle(), 12);
  EXPECT_EQ(world.pods().size(), 2U);
  EXPECT_EQ(world.status()["ships"], 1);
}

TEST(FleetPlan, RestartsTheWholeShipOfAPodThatFailed) {
  FleetWorld world = settled();
  world.fail("north-1-0");
  const Plan plan = world.plan();
  EXPECT_THAT(writes_of(plan, "delete Pod"), UnorderedElementsAre("delete Pod north-1-0", "delete Pod north-1-1"));
  EXPECT_THAT(writes_of(plan, "create Pod"), IsEmpty());
  EXPECT_THAT(plan, HasEvent("ShipRestarted"));
  // They are reported together: once, after both deletes.
  const plan::Action deletion = action_of(plan, "delete Pod north-1-0");
  ASSERT_NE(deletion.events, nullptr);
  EXPECT_EQ(deletion.events, action_of(plan, "delete Pod north-1-1").events);
  ASSERT_EQ(deletion.events->measurements.size(), 1U);
  EXPECT_EQ(deletion.events->measurements[0].name, kShipRestarts.name);
  EXPECT_THAT(plan.reason, HasSubstr("pod north-1-0 has failed: restarting ship north-1"));
  ASSERT_LE(world.settle(), 12);
  EXPECT_EQ(condition(world, "Ready"), "True");
}

TEST(FleetPlan, RestartsAShipThatRunsWithoutAHost) {
  FleetWorld world = settled();
  world.pods().erase("north-0-1");
  EXPECT_THAT(writes_of(world.plan(), "delete Pod"), ElementsAre("delete Pod north-0-0"));
}

TEST(FleetPlan, WaitsForTerminatingPodsOfAShip) {
  FleetWorld world = settled();
  for (const char* pod : {"north-0-0", "north-0-1"}) {
    world.pods().at(pod)["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
  }
  const Plan plan = world.plan();
  EXPECT_THAT(writes_of(plan, "create Pod"), IsEmpty());
  EXPECT_THAT(writes_of(plan, "delete Pod"), IsEmpty());
}

TEST(FleetPlan, RestoresTheFlag) {
  FleetWorld world = settled();
  world.set_spec("flag", "white");
  EXPECT_THAT(writes_of(world.plan(), "patch ConfigMap"), ElementsAre("patch ConfigMap north-flag"));
  ASSERT_LE(world.settle(), 12);
  EXPECT_EQ(string_at(world.objects(kConfigMaps).at("north-flag"), {"data", "flag"}), "white");
}

TEST(FleetPlan, ReportsAConfigMapOfAnotherOwnerAndDoesNotChangeIt) {
  FleetWorld world;
  world.add(kConfigMaps, {{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", {{"name", "north-flag"}, {"namespace", "default"}}},
                          {"data", {{"flag", "red"}}}});
  const Plan plan = world.plan();
  EXPECT_THAT(writes_of(plan, "create ConfigMap"), IsEmpty());
  EXPECT_THAT(writes_of(plan, "patch ConfigMap"), IsEmpty());
  EXPECT_THAT(plan, HasEvent("NameConflict"));
  EXPECT_TRUE(plan.requeue_after.has_value());
}

TEST(FleetPlan, ReportsAWriteThatIsRefused) {
  FleetWorld world;
  world.refuse([](const plan::Action& action) -> std::optional<Error> {
    if (action.type != kPods) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  });
  world.step();
  const Plan next = world.plan();
  ASSERT_TRUE(next.status.has_value());
  const Json* ready = find_condition(next.status->status["conditions"], kReady);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(string_at(*ready, {"reason"}), kPodFailed);
  EXPECT_THAT(string_at(*ready, {"message"}), HasSubstr("exceeded quota"));
}

TEST(FleetPlan, RefusesASpecAndKeepsThePods) {
  FleetWorld world = settled();
  world.set_spec("ships", -1);
  const Plan plan = world.plan();
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_THAT(plan, HasEvent("InvalidFleetSpec"));
  world.carry_out(plan);
  EXPECT_EQ(condition(world, "tpuslice.dev/Accepted"), "False");
  EXPECT_THAT(world.plan(), plan::IsEmptyPlan());
  EXPECT_EQ(world.pods().size(), 4U);
}

TEST(FleetPlan, IsEmptyForAFleetThatIsDeleted) {
  FleetWorld world;
  world.object().mutable_json()["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
  EXPECT_THAT(world.plan(), plan::IsEmptyPlan());
}

}  // namespace
}  // namespace tpuslice::example
