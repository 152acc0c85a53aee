#include "controllers/jobset/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using runtime::EventType;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Changes, DoNotAddAConditionThatIsFalse) {
  Scene scene(a_jobset("train").world());
  scene.changes.set_condition("Suspended", false, "ResumeJobs", "jobset is resumed");
  EXPECT_EQ(scene.changes.status.conditions, Json::array());
  EXPECT_THAT(scene.changes.events, IsEmpty());
}

TEST(Changes, TellOfAConditionOnce) {
  World world = a_jobset("train").world();
  world.now() = after(5s);
  Scene scene(world);
  for (int i = 0; i < 2; ++i) scene.changes.set_condition("Failed", true, "Why", "so", EventType::kWarning);
  EXPECT_EQ(scene.changes.status.conditions, Json::parse(R"([{"type": "Failed", "status": "True", "reason": "Why",
    "message": "so", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:05Z"}])"));
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Warning Why: so"));
  scene.changes.set_condition("Failed", true, "Why", "otherwise");
  EXPECT_EQ(scene.changes.events.size(), 2U);
}

TEST(Changes, EndAConditionWithoutNews) {
  Scene scene(a_jobset("train").world());
  scene.changes.end_condition("StartupPolicyInProgress");
  EXPECT_EQ(scene.changes.status.conditions, Json::array());
  scene.changes.set_condition("StartupPolicyInProgress", true, "Why", "so");
  scene.changes.end_condition("StartupPolicyInProgress");
  EXPECT_EQ(condition(scene.changes.status.conditions, "StartupPolicyInProgress"), "False Why: so");
  EXPECT_EQ(scene.changes.events.size(), 1U);
}

TEST(Changes, LookAgainAtTheEarliestOfTheTimesAndNeverAtOnce) {
  Scene scene(a_jobset("train").world());
  EXPECT_EQ(scene.changes.requeue_after, std::nullopt);
  scene.changes.look_again_in(30s);
  scene.changes.look_again_in(20s);
  scene.changes.look_again_in(40s);
  EXPECT_EQ(scene.changes.requeue_after, 20s);
  scene.changes.look_again_in(0s);
  EXPECT_EQ(scene.changes.requeue_after, 1ms);
}

TEST(JoinNames, NamesAFewAndCountsTheRest) {
  EXPECT_EQ(join_names({}), "");
  EXPECT_EQ(join_names({"a"}), "a");
  EXPECT_EQ(join_names({"a", "b", "c", "d"}), "a, b, c, d");
  EXPECT_EQ(join_names({"a", "b", "c", "d", "e", "f"}), "a, b, c, d and 2 more");
}

}  // namespace
}  // namespace tpuslice::jobset
