#include "controllers/raycluster/suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"
#include "tests/support/raycluster/world.h"

namespace tpuslice::raycluster {
namespace {

using testing::IsEmpty;

class Suspension : public testing::Test {
 protected:
  Suspension() {
    world_.settle();
    set_suspend(true);
  }
  void set_suspend(bool value) { world_.cluster().mutable_json()["spec"]["suspend"] = value; }
  [[nodiscard]] bool is(std::string_view condition) const {
    const Json* conditions = find_path(world_.cluster().json(), {"status", "conditions"});
    return conditions != nullptr && is_condition_true(*conditions, condition);
  }
  [[nodiscard]] std::string status_of(std::string_view condition) const {
    return condition_status(array_at(world_.cluster().json(), {"status", "conditions"}), condition);
  }

  World world_ = World(tutorial_cluster());
};

TEST_F(Suspension, IsRecordedBeforeTheFirstPodIsDeleted) {
  EXPECT_THAT(world_.step().stages, IsEmpty());
  EXPECT_TRUE(is(kSuspendingCondition));
  EXPECT_EQ(world_.step().stages.size(), 1U);
}

TEST_F(Suspension, DeletesAllPodsAndThenChangesNothing) {
  world_.settle();
  EXPECT_TRUE(is(kSuspendedCondition));
  EXPECT_FALSE(is(kSuspendingCondition));
  EXPECT_FALSE(is("RayClusterProvisioned"));
  EXPECT_THAT(world_.pods(), IsEmpty());
  EXPECT_EQ(world_.cluster().json()["status"]["state"], "suspended");
  EXPECT_THAT(world_.step(), plan::EqualsPlan(plan::Plan{}));
}

TEST_F(Suspension, IsCompletedOnceItHasBegun) {
  world_.step();
  world_.step();
  set_suspend(false);
  EXPECT_TRUE(is(kSuspendingCondition));
  world_.step();
  EXPECT_TRUE(is(kSuspendingCondition));
  world_.settle();
  EXPECT_FALSE(is(kSuspendedCondition));
  EXPECT_EQ(world_.pods().size(), 5U);
  EXPECT_EQ(world_.cluster().json()["status"]["state"], "ready");
}

TEST_F(Suspension, CreatesThePodsAgainOnceUnset) {
  world_.settle();
  set_suspend(false);
  world_.settle();
  EXPECT_EQ(world_.pods().size(), 5U);
  EXPECT_TRUE(is("RayClusterProvisioned"));
}

TEST_F(Suspension, IsDeniedByBothConditionsWhileTheClusterRuns) {
  set_suspend(false);
  world_.settle();
  for (const std::string_view type : {kSuspendingCondition, kSuspendedCondition}) {
    EXPECT_EQ(status_of(type), "False") << type;
  }
}

/// Another writer has set both conditions.
class ContradictorySuspension : public Suspension {
 protected:
  void set_both() {
    Json& conditions = world_.cluster().mutable_json()["status"]["conditions"];
    for (const std::string_view type : {kSuspendingCondition, kSuspendedCondition}) {
      set_condition(conditions, {std::string(type), "True", std::string(type), "", 1}, {});
    }
  }
};

TEST_F(ContradictorySuspension, DeletesNoPodsOfAClusterThatIsNotSuspended) {
  set_suspend(false);
  set_both();
  EXPECT_THAT(world_.step().stages, IsEmpty());
  EXPECT_EQ(world_.pods().size(), 5U);
  EXPECT_FALSE(is(kSuspendingCondition));
  EXPECT_FALSE(is(kSuspendedCondition));
}

TEST_F(ContradictorySuspension, EndsSuspended) {
  world_.settle();
  set_both();
  world_.settle();
  EXPECT_FALSE(is(kSuspendingCondition));
  EXPECT_TRUE(is(kSuspendedCondition));
  EXPECT_THAT(world_.pods(), IsEmpty());
}

TEST_F(ContradictorySuspension, BeginsAgainWhileThereArePods) {
  set_both();
  EXPECT_THAT(world_.step().stages, IsEmpty());
  EXPECT_TRUE(is(kSuspendingCondition));
  EXPECT_FALSE(is(kSuspendedCondition));
  world_.settle();
  EXPECT_TRUE(is(kSuspendedCondition));
  EXPECT_THAT(world_.pods(), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::raycluster
