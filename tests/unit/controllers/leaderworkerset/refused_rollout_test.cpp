// After a write of a rollout was refused, a plan is about existing groups alone, if they need something.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using plan::Plan;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

Plan plan_after(World& world, std::string_view failure, Duration ago) {
  world.fail(failure, "denied by a policy", world.now() - ago);
  return world.plan();
}

void fail_group(World& world, int group) { world.restart_container(fmt::format("serve-{}-1", group)); }

/// Group 0 of two has failed while the leader set cannot be updated to a new revision.
World refused_update() {
  World serve = stable_world();
  serve.add_update("denied");
  fail_group(serve, 0);
  return serve;
}

const std::vector<std::string> kRestartOfGroup = {"patch StatefulSet serve", "delete StatefulSet serve-0 Foreground",
                                                  "delete Pod serve-0 Foreground", "delete Pod serve-0-1"};

TEST(RefusedRollout, DoesNotHoldBackARestart) {
  World serve = refused_update();
  const Plan plan = plan_after(serve, kFailedRollout, 1s);
  EXPECT_EQ(writes_of(plan), kRestartOfGroup);
  const Json record = action_of(plan, "patch StatefulSet serve").body.make().value();
  EXPECT_EQ(find_path(record, {"spec"}), nullptr) << "the refused template is not sent again: " << record;
  EXPECT_NE(string_at(record, {"metadata", "annotations", kRestarts}), "") << "the restart is counted";
  for (const plan::Stage& stage : plan.stages) {
    EXPECT_TRUE(stage.continue_on_failure) << "a policy may refuse every update of the leader set";
  }
}

TEST(RefusedRollout, IsReportedAndTriedAgain) {
  World serve = refused_update();
  const Plan plan = plan_after(serve, kFailedRollout, 1s);
  EXPECT_TRUE(plan.keeps_failure);
  ASSERT_TRUE(plan.requeue_after);
  EXPECT_LE(*plan.requeue_after, plan::kRefusalRetry - 1s);
  ASSERT_TRUE(plan.status);
  EXPECT_THAT(
      plan.status->status["conditions"].dump(),
      ::testing::HasSubstr(R"("message":"denied by a policy","observedGeneration":1,"reason":"FailedRollout")"));
  World later = refused_update();
  EXPECT_THAT(writes_of(plan_after(later, kFailedRollout, plan::kRefusalRetry)), Contains("patch StatefulSet serve"));
  EXPECT_FALSE(plan_after(later, kFailedRollout, plan::kRefusalRetry).keeps_failure);
}

TEST(RefusedRollout, IsTriedAgainAtOnceWhileNoGroupNeedsAnything) {
  World serve = stable_world();
  serve.add_update("corrected");
  const Plan plan = plan_after(serve, kFailedRollout, 1s);
  EXPECT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve"));
  EXPECT_EQ(action_of(plan, "patch StatefulSet serve").failure_reason, kFailedRollout);
  EXPECT_FALSE(plan.stages[0].continue_on_failure) << "deletions need the record";
}

TEST(RefusedRollout, DoesNotHoldBackTheWorkersOfALeader) {
  World serve = refused_update();
  serve.stateful_sets().erase("serve-1");
  EXPECT_THAT(writes_of(plan_after(serve, kFailedRollout, 1s)), Contains("create StatefulSet serve-1"));
}

TEST(RefusedRevision, DoesNotHoldBackARestartButTheRollout) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "another");
  fail_group(serve, 0);
  EXPECT_THAT(writes_of(serve.plan()), Contains(::testing::HasSubstr("create ControllerRevision")));
  EXPECT_EQ(writes_of(plan_after(serve, kFailedRollout, 1s)), kRestartOfGroup);
}

TEST(RefusedRevision, HoldsBackWorkersThatReferToIt) {
  World serve = stable_world();
  serve.revisions().clear();
  serve.stateful_sets().erase("serve-1");
  const std::vector<std::string> planned = writes_of(plan_after(serve, kFailedRollout, 1s));
  EXPECT_THAT(planned, Contains(::testing::HasSubstr("create ControllerRevision")));
  EXPECT_THAT(planned, Not(Contains("create StatefulSet serve-1")));
}

TEST(RefusedService, DoesNotHoldBackARestart) {
  World serve = stable_world();
  serve.services().clear();
  fail_group(serve, 0);
  EXPECT_THAT(writes_of(serve.plan()), Contains("create Service serve"));
  EXPECT_EQ(writes_of(plan_after(serve, kFailedRollout, 1s)), kRestartOfGroup);
}

TEST(RefusedWriteOfAGroup, HoldsBackNoRollout) {
  World serve = refused_update();
  EXPECT_THAT(writes_of(plan_after(serve, kFailedUpdate, 1s)), Contains("patch StatefulSet serve"));
  EXPECT_FALSE(plan_after(serve, kFailedUpdate, 1s).keeps_failure);
}

TEST(RefusedWriteOfAGroup, HoldsBackNoOtherGroup) {
  World serve = stable_world();
  fail_group(serve, 0);
  serve.stateful_sets().erase("serve-1");
  const Plan plan = serve.plan();
  ASSERT_EQ(plan.stages.size(), 4) << "record, worker sets, pods, worker sets of other groups";
  EXPECT_FALSE(plan.stages[0].continue_on_failure);
  for (std::size_t i = 1; i < plan.stages.size(); ++i) {
    EXPECT_TRUE(plan.stages[i].independent && plan.stages[i].continue_on_failure) << i;
  }
}

TEST(RefusedCreation, OfTheLeaderSetIsNotARollout) {
  World serve = stable_world();
  serve.stateful_sets().erase("serve");
  const Plan plan = serve.plan();
  EXPECT_THAT(stages_of(plan).at(0), ElementsAre("create StatefulSet serve"));
  EXPECT_EQ(action_of(plan, "create StatefulSet serve").failure_reason, kFailedCreate);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
