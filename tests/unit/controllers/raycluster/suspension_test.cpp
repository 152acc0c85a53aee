#include "controllers/raycluster/suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/raycluster/fixtures.h"
#include "tests/unit/controllers/raycluster/world.h"

namespace tpuslice::raycluster {
namespace {

using testing::IsEmpty;

class Suspension : public testing::Test {
 protected:
  Suspension() {
    settle();
    set_suspend(true);
  }
  void set_suspend(bool value) { world_.cluster().mutable_json()["spec"]["suspend"] = value; }
  plan::Plan step() {
    const Result<plan::Plan> plan = plan_raycluster(world_.observed(), {});
    world_.carry_out(*plan);
    return *plan;
  }
  void settle() {
    for (int round = 0; round < 10; ++round) {
      step();
      world_.advance();
    }
  }
  [[nodiscard]] bool is(std::string_view condition) const {
    const Json* conditions = find_path(world_.cluster().json(), {"status", "conditions"});
    return conditions != nullptr && is_condition_true(*conditions, condition);
  }

  World world_ = World(tutorial_cluster());
};

TEST_F(Suspension, IsRecordedBeforeTheFirstPodIsDeleted) {
  EXPECT_THAT(step().stages, IsEmpty());
  EXPECT_TRUE(is(kSuspendingCondition));
  EXPECT_EQ(step().stages.size(), 1U);
}

TEST_F(Suspension, DeletesAllPodsAndThenChangesNothing) {
  settle();
  EXPECT_TRUE(is(kSuspendedCondition));
  EXPECT_FALSE(is(kSuspendingCondition));
  EXPECT_FALSE(is("RayClusterProvisioned"));
  EXPECT_THAT(world_.pods(), IsEmpty());
  EXPECT_EQ(world_.cluster().json()["status"]["state"], "suspended");
  EXPECT_THAT(step(), plan::EqualsPlan(plan::Plan{}));
}

TEST_F(Suspension, IsCompletedOnceItHasBegun) {
  step();
  step();
  set_suspend(false);
  EXPECT_TRUE(is(kSuspendingCondition));
  step();
  EXPECT_TRUE(is(kSuspendingCondition));
  settle();
  EXPECT_FALSE(is(kSuspendedCondition));
  EXPECT_EQ(world_.pods().size(), 5U);
  EXPECT_EQ(world_.cluster().json()["status"]["state"], "ready");
}

TEST_F(Suspension, CreatesThePodsAgainOnceUnset) {
  settle();
  set_suspend(false);
  settle();
  EXPECT_EQ(world_.pods().size(), 5U);
  EXPECT_TRUE(is("RayClusterProvisioned"));
}

}  // namespace
}  // namespace tpuslice::raycluster
