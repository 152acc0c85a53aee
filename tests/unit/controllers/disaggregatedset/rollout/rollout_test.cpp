#include "controllers/disaggregatedset/rollout/rollout.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using plan::HasEvent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The replicas after each plan that changes them.
std::vector<std::string> history(World& world, int limit = 60) {
  std::vector<std::string> out = {picture(world)};
  for (int i = 0; i < limit; ++i) {
    const plan::Plan plan = world.step();
    if (picture(world) != out.back()) out.push_back(picture(world));
    world.advance();
    if (plan.empty() && world.plan().empty()) break;
  }
  return out;
}

World at_rest(Json set = a_set()) {
  World world(std::move(set));
  world.settle();
  return world;
}

std::string old_name(const World& world, const std::string& role) { return world.name_of(role); }

TEST(Rollout, GoesThroughUpstreamsSteps) {
  World world = at_rest();
  world.use_image("serve:2");
  const std::vector<std::string> steps = history(world);
  // Two revisions are sorted by name, so the order of new and old sets depends on their hashes.
  ASSERT_EQ(steps.size(), 7U) << testing::PrintToString(steps);
  for (const char* part : {"prefill 2 old", "decode 2 old", "prefill 0 new", "decode 0 new"}) {
    EXPECT_THAT(steps[1], HasSubstr(part));
  }
  for (const char* part : {"prefill 1 new", "decode 1 new", "prefill 2 old"}) EXPECT_THAT(steps[2], HasSubstr(part));
  for (const char* part : {"prefill 1 new", "prefill 1 old", "decode 1 old"}) EXPECT_THAT(steps[3], HasSubstr(part));
  for (const char* part : {"prefill 2 new", "prefill 1 old"}) EXPECT_THAT(steps[4], HasSubstr(part));
  for (const char* part : {"prefill 2 new", "prefill 0 old", "decode 0 old"}) EXPECT_THAT(steps[5], HasSubstr(part));
  EXPECT_EQ(steps[6], "0 decode 2 new, 0 prefill 2 new");
}

TEST(Rollout, RecordsTheReplicasOfOldSetsBeforeThereAreNewOnes) {
  World world = at_rest();
  const std::string old = old_name(world, "prefill");
  world.use_image("serve:2");
  const plan::Plan plan = world.plan();
  EXPECT_THAT(plan::stages_of(plan), ElementsAre(ElementsAre("patch LeaderWorkerSet " + old_name(at_rest(), "decode"),
                                                             "patch LeaderWorkerSet " + old),
                                                 ElementsAre("create LeaderWorkerSet " + world.name_of("prefill"),
                                                             "create LeaderWorkerSet " + world.name_of("decode"))));
  EXPECT_THAT(plan, HasEvent("RollingUpdateStarted"));
  world.carry_out(plan);
  EXPECT_EQ(string_at(world.sets().at(old), {"metadata", "annotations", kInitialReplicas}), "2");
}

TEST(Rollout, WaitsUntilTheNewReplicasAreReady) {
  World world = at_rest();
  world.break_image("serve:2");
  world.use_image("serve:2");
  const std::vector<std::string> steps = history(world);
  EXPECT_THAT(steps.back(), HasSubstr("prefill 2 old"));
  EXPECT_THAT(steps.back(), HasSubstr("prefill 1 new"));
  EXPECT_THAT(world.message(kProgressing),
              HasSubstr("the rollout waits: 0 of 1 replicas of LeaderWorkerSet " + world.name_of("prefill")));
}

TEST(Rollout, ANewImageReplacesOneThatDoesNotWork) {
  World world = at_rest();
  world.break_image("serve:2");
  world.use_image("serve:2");
  history(world);
  world.use_image("serve:3");
  EXPECT_EQ(history(world).back(), "0 decode 2 new, 0 prefill 2 new");
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
}

TEST(Rollout, CanBeTakenBack) {
  World world = at_rest();
  world.break_image("serve:2");
  world.use_image("serve:2");
  history(world);
  world.use_image("serve:1");
  EXPECT_EQ(history(world).back(), "0 decode 2 new, 0 prefill 2 new");
}

TEST(Rollout, CreatesASetThatIsMissingInTheMiddle) {
  World world = at_rest();
  world.use_image("serve:2");
  world.step();
  world.sets().erase(world.name_of("decode"));
  const plan::Plan plan = world.plan();
  EXPECT_THAT(plan::writes_of(plan), ElementsAre("create LeaderWorkerSet " + world.name_of("decode")));
  EXPECT_THAT(plan, Not(HasEvent("RollingUpdateStarted")));
  EXPECT_EQ(history(world).back(), "0 decode 2 new, 0 prefill 2 new");
}

TEST(Rollout, DeletesADrainedRevisionAndReportsTheEnd) {
  World world = at_rest();
  world.use_image("serve:2");
  while (picture(world).find("prefill 0 old") == std::string::npos) {
    world.step();
    world.advance();
  }
  const plan::Plan plan = world.plan();
  EXPECT_EQ(plan::writes_of(plan, "delete LeaderWorkerSet").size(), 2U);
  EXPECT_THAT(plan, HasEvent("RollingUpdateCompleted"));
  EXPECT_THAT(plan, HasEvent("LWSDeleted"));
}

TEST(Rollout, FollowsReplicasThatChangeMeanwhile) {
  World world = at_rest(a_set({{"prefill", 4}, {"decode", 4}}));
  world.use_image("serve:2");
  for (int i = 0; i < 6; ++i) {
    world.step();
    world.advance();
  }
  world.scale("prefill", 2);
  world.scale("decode", 6);
  EXPECT_EQ(history(world).back(), "0 decode 6 new, 0 prefill 2 new");
}

// Upstream's rollout ends here: no step fits into the surge.
TEST(Rollout, GoesOnAfterTheReplicasOfARoleWereLoweredBelowItsNewSet) {
  World world = at_rest(a_set({{"prefill", 4}, {"decode", 4}, {"encode", 5}}));
  world.use_image("serve:2");
  while (picture(world).find("decode 1 new") == std::string::npos) {
    world.step();
    world.advance();
  }
  world.sets().at(world.name_of("encode"))["spec"]["replicas"] = 5;
  world.advance();
  world.scale("encode", 2);
  EXPECT_EQ(history(world).back(), "0 decode 4 new, 0 encode 2 new, 0 prefill 4 new");
}

TEST(Rollout, DrainsARoleThatTheSpecNoLongerHas) {
  World world = at_rest(a_set({{"prefill", 2}, {"decode", 2}, {"encode", 2}}));
  world.set()["spec"]["roles"].erase(2);
  world.change_set("/spec/slices", 1);
  EXPECT_EQ(history(world).back(), "0 decode 2 new, 0 prefill 2 new");
}

TEST(Rollout, DrainsARemovedRoleAlsoWhenItIsTheLastWithReplicas) {
  World world = at_rest(a_set({{"prefill", 0}, {"decode", 0}, {"encode", 0}}));
  const std::string encode = world.name_of("encode");
  world.set()["spec"]["roles"].erase(2);
  world.change_set("/spec/slices", 1);
  world.sets().at(encode)["spec"]["replicas"] = 1;  // By another client.
  EXPECT_EQ(history(world).back(), "0 decode 0 new, 0 prefill 0 new");
}

TEST(Rollout, OfOneSliceDoesNotWaitForAnother) {
  Json set = a_set();
  set["spec"]["slices"] = 2;
  World world = at_rest(set);
  world.use_image("serve:2");
  world.step();
  world.advance();
  world.step();
  world.sets().at(world.name_of("prefill", 1))["status"]["readyReplicas"] = 0;
  for (auto& [name, each] : world.sets()) {
    if (string_at(each, {"metadata", "labels", kSlice}) == "0")
      each["status"]["readyReplicas"] = each["spec"]["replicas"];
  }
  const std::vector<std::string> writes = plan::writes_of(world.plan());
  EXPECT_THAT(writes, Not(IsEmpty()));
  for (const std::string& write : writes) EXPECT_THAT(write, HasSubstr(" llm-0-"));
}

TEST(Rollout, AnExternalRoleDoesNotShrinkMeanwhile) {
  World world = at_rest(a_set({{"prefill", 2}, {"decode", 1, true}}));
  world.scale_external("decode", 4);
  world.settle();
  world.use_image("serve:2");
  while (picture(world).find("decode 2 new") == std::string::npos) {
    world.step();
    world.advance();
  }
  world.scale_external("decode", 1);
  std::vector<std::string> steps = history(world);
  EXPECT_EQ(steps.back(), "0 decode 1 new, 0 prefill 2 new");
  const auto shrunk = std::ranges::find_if(
      steps, [](const std::string& step) { return step.find("decode 1 new") != std::string::npos; });
  EXPECT_THAT(*shrunk, Not(HasSubstr("old")));
}

TEST(Rollout, ScaleChangesWithoutARevision) {
  World world = at_rest();
  const std::string revision = world.revision();
  world.scale("decode", 5);
  EXPECT_EQ(world.revision(), revision);
  EXPECT_EQ(history(world).back(), "0 decode 5 new, 0 prefill 2 new");
  EXPECT_EQ(world.sets().size(), 2U);
}

TEST(Rollout, AllRolesMayHaveNoReplicas) {
  World world = at_rest();
  world.scale("decode", 0);
  world.scale("prefill", 0);
  EXPECT_EQ(history(world).back(), "0 decode 0 new, 0 prefill 0 new");
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
