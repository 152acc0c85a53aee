#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScaleDown, IsReportedWhileItWaits) {
  World serve = stable_world(a_set("serve").replicas(4).size(2));
  serve.set_ready("serve-0", false);
  serve.set_ready("serve-1", false);
  serve.change_set("/spec/replicas", 2);
  const plan::Plan plan = serve.step();
  EXPECT_EQ(action_of(plan, "patch StatefulSet serve").body.make().value()["spec"]["replicas"], 3);
  const Json* const healthy = find_condition(serve.conditions(), kGroupsHealthy);
  ASSERT_NE(healthy, nullptr);
  EXPECT_EQ(string_at(*healthy, {"reason"}), "ScaleDownWaits");
  EXPECT_THAT(string_at(*healthy, {"message"}),
              HasSubstr("spec.replicas is 2, but groups up to 2 are kept: fewer than 1 of groups 0 to 1 are ready"));

  serve.set_ready("serve-1", true);
  EXPECT_THAT(writes_of(serve.step()), ElementsAre("patch StatefulSet serve"));
  EXPECT_EQ(condition_status(serve.conditions(), kGroupsHealthy), "True");
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
