#include "controllers/disaggregatedset/disaggregatedset_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using plan::HasEvent;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Json& condition_of(const Json& status, std::string_view type) {
  return *find_condition(array_at(status, {"conditions"}), type);
}

TEST(DisaggregatedSetStatus, CountsTheReplicasOfEachRole) {
  World world(a_set({{"prefill", 3}, {"decode", 2}}));
  world.settle();
  EXPECT_EQ(world.status()["roleStatuses"],
            Json::array({{{"name", "prefill"}, {"replicas", 3}, {"readyReplicas", 3}, {"updatedReplicas", 3}},
                         {{"name", "decode"}, {"replicas", 2}, {"readyReplicas", 2}, {"updatedReplicas", 2}}}));
}

TEST(DisaggregatedSetStatus, OldRevisionsAreNotUpdated) {
  World world;
  world.settle();
  world.use_image("serve:2");
  for (int round = 0; round < 3; ++round) {
    world.step();
    world.advance();
  }
  world.step();
  const Json role = world.status()["roleStatuses"][0];
  EXPECT_EQ(role["updatedReplicas"], 1);
  EXPECT_GT(role["replicas"], 1);
}

TEST(DisaggregatedSetStatus, SaysWhatIsMissing) {
  World world;
  world.step();
  EXPECT_EQ(world.condition(kProgressing), "True: RolloutInProgress");
  EXPECT_THAT(world.message(kProgressing), StartsWith("Not all roles have reached their desired replica count"));
  EXPECT_THAT(world.message(kProgressing),
              HasSubstr("role prefill: 0 replicas, 0 ready, 0 updated, 2 desired; role decode"));
  EXPECT_EQ(world.condition(kAvailable), "");
}

TEST(DisaggregatedSetStatus, AvailableAndProgressingExcludeEachOther) {
  World world;
  world.settle();
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
  EXPECT_EQ(world.condition(kProgressing), "False: AllRolesReady");
  world.scale("decode", 4);
  world.step();
  EXPECT_EQ(world.condition(kAvailable), "False: RolloutInProgress");
  EXPECT_EQ(world.condition(kProgressing), "True: RolloutInProgress");
}

TEST(DisaggregatedSetStatus, HasTheGenerationThatWasObserved) {
  World world;
  world.settle();
  world.change_set("/spec/roles/0/spec/startupPolicy", "LeaderReady");
  world.settle();
  EXPECT_EQ(world.status()["observedGeneration"], 2);
  for (const char* type : {"Available", "Progressing", "tpuslice.dev/Accepted"}) {
    EXPECT_EQ(condition_of(world.status(), type)["observedGeneration"], 2) << type;
  }
}

TEST(DisaggregatedSetStatus, RepeatsWhyASliceWaits) {
  World world;
  world.settle();
  Json& set = world.sets().at(world.name_of("decode"));
  set_condition(set["status"]["conditions"],
                {std::string(plan::kSlicesPlaced), "False", "NodesInUse", "slice x: no pool is free", {}}, world.now());
  const plan::Plan plan = world.step();
  EXPECT_EQ(world.condition(plan::kSlicesPlaced), "False: NodesInUse");
  EXPECT_EQ(world.message(plan::kSlicesPlaced),
            "LeaderWorkerSet " + world.name_of("decode") + ": slice x: no pool is free");
  EXPECT_THAT(plan, HasEvent("SliceWaiting"));
  EXPECT_THAT(world.plan(), Not(HasEvent("SliceWaiting")));
}

TEST(DisaggregatedSetStatus, SaysWhichWriteFailed) {
  World world;
  world.refuse([](const plan::Action& action) -> std::optional<Error> {
    if (action.type != leaderworkerset::kLeaderWorkerSets) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  });
  world.step();
  world.apply(*world.plan().status);
  EXPECT_EQ(world.condition(plan::kChildrenReady), "False: FailedLeaderWorkerSet");
  EXPECT_THAT(world.message(plan::kChildrenReady), HasSubstr("exceeded quota"));
}

TEST(DisaggregatedSetStatus, OfANewSetThatIsRefusedHasAllConditionsOfOurs) {
  Json set = a_set();
  set["spec"]["roles"].erase(1);
  World world(set);
  world.step();
  for (const std::string_view type : {plan::kChildrenReady, plan::kSlicesPlaced, plan::kContainersStarted}) {
    EXPECT_EQ(world.condition(type), "False: NotAccepted") << type;
  }
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
