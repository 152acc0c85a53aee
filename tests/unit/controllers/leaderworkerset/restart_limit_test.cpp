// The limit of restarts by upstream's field, and what the status says of groups that have reached it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/rollout/revisions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kField = "/spec/leaderWorkerTemplate/maxGroupRestarts";

/// Its group 0 has failed and may not be restarted.
World exhausted_world(const SetBuilder& set = a_set("serve").replicas(2).size(2).set(kField, 0)) {
  World serve = stable_world(set);
  serve.restart_container("serve-0-1");
  serve.step();
  return serve;
}

Json failed(const World& world) {
  const Json* found = find_condition(world.conditions(), leaderworkerset::kFailed);
  return found == nullptr ? Json() : *found;
}

TEST(RestartLimit, IsAFieldOrAnAnnotation) {
  const auto limit = [](const SetBuilder& set) {
    const Object object = set.object();
    return LeaderWorkerSetSpec::read(object).max_group_restarts;
  };
  EXPECT_EQ(limit(a_set("serve")), std::nullopt);
  EXPECT_EQ(limit(a_set("serve").set(kField, 3)), 3);
  EXPECT_EQ(limit(a_set("serve").set(kField, nullptr).annotation(std::string(kMaxRestarts), "2")), 2);
}

TEST(RestartLimit, IsNoPartOfARevision) {
  World serve = stable_world();
  serve.change_set(kField, 3);
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(RestartLimit, SetsUpstreamsConditionOnceItIsReached) {
  EXPECT_TRUE(failed(stable_world(a_set("serve").replicas(2).size(2).set(kField, 0))).is_null());
  World serve = exhausted_world();
  EXPECT_THAT(serve.pods(), Contains(::testing::Key("serve-0")));
  EXPECT_EQ(failed(serve)["status"], "True");
  EXPECT_EQ(failed(serve)["reason"], "MaxGroupRestartsExceeded");
  EXPECT_EQ(failed(serve)["message"], "Groups that have used up their restarts: 0");
  const Json* const healthy = find_condition(serve.conditions(), kGroupsHealthy);
  EXPECT_EQ(string_at(*healthy, {"reason"}), "RestartsExhausted");
  EXPECT_THAT(string_at(*healthy, {"message"}), HasSubstr("annotate it with leaderworkerset.sigs.k8s.io/recover=true"));
  EXPECT_TRUE(serve.plan().empty());
}

TEST(RestartLimit, IsLiftedByTheAnnotationOfTheLeader) {
  World serve = exhausted_world();
  const std::string leader = plan::uid_of(serve.pods().at("serve-0"));
  serve.pods().at("serve-0")["metadata"]["annotations"][std::string(kRecover)] = "true";
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), Contains("delete Pod serve-0 Foreground"));
  serve.settle();
  EXPECT_NE(plan::uid_of(serve.pods().at("serve-0")), leader);
  EXPECT_EQ(failed(serve)["status"], "False");
  EXPECT_TRUE(is_condition_true(serve.conditions(), kGroupsHealthy));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
