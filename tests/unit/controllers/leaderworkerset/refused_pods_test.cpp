// Pods of leader and worker sets that the API server refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/groups/lacking_pods.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "False PodsRefused: ..." of the condition in the status of the plan.
std::string planned_condition(const plan::Plan& plan, std::string_view type) {
  if (!plan.status) return "unchanged";
  const Json* found = find_condition(plan.status->status["conditions"], type);
  if (found == nullptr) return "absent";
  return string_at(*found, {"status"}) + " " + string_at(*found, {"reason"}) + ": " + string_at(*found, {"message"});
}

/// The plan once the API server has refused pods with these words.
plan::Plan plan_after_refusal(const World& world, const plan::WorkloadRequest& request, const std::string& message) {
  LeaderWorkerSetObserved seen = world.observed();
  const plan::WorkloadAnswer answer{
      request, 200, {{"message", message}, {"time", format_rfc3339(seen.now)}}, {}, seen.now};
  seen.answers = plan::WorkloadAnswers({std::make_shared<const plan::WorkloadAnswer>(answer)});
  return plan_leaderworkerset(seen);
}

/// Without the leaders, for a minute.
World without_leaders() {
  World serve(a_set("serve").replicas(2).size(2).json());
  serve.step();
  serve.step();
  serve.now() += 1min;
  return serve;
}

TEST(RefusedPods, OfTheLeaderSetAreConditionsAndAnEvent) {
  World serve = without_leaders();
  const plan::Plan asking = serve.plan();
  ASSERT_EQ(asking.requests.size(), 1U);
  EXPECT_EQ(asking.requests[0].events->uid, plan::uid_of(serve.leader_set()));
  const plan::Plan plan = plan_after_refusal(
      serve, asking.requests[0],
      "create Pod serve-1 in StatefulSet serve failed error: pods \"serve-1\" is forbidden: no PriorityClass "
      "with name missing was found");
  const std::string text =
      "StatefulSet serve lacks pods: pods \"serve-*\" is forbidden: no PriorityClass with name missing was found";
  EXPECT_EQ(planned_condition(plan, plan::kSlicesPlaced), "False PodsRefused: " + text);
  EXPECT_EQ(planned_condition(plan, kGroupsHealthy), "False PodsRefused: " + text);
  ASSERT_THAT(plan.events, Contains(::testing::Field(&plan::EventIntent::reason, "PodsRefused")));
  EXPECT_THAT(writes_of(plan), IsEmpty());
}

TEST(RefusedPods, OfAWorkerSetNameIt) {
  World serve = stable_world();
  serve.pods().erase("serve-1-1");
  serve.step();
  EXPECT_THAT(serve.plan().requests, IsEmpty()) << "the StatefulSet controller may just be creating it";
  EXPECT_EQ(serve.plan().requeue_after, plan::kMissingPodsDelay);
  serve.now() += 1min;
  const plan::Plan asking = serve.plan();
  ASSERT_EQ(asking.requests.size(), 1U);
  EXPECT_EQ(asking.requests[0].events->uid, plan::uid_of(serve.stateful_sets().at("serve-1")));
  EXPECT_THAT(planned_condition(plan_after_refusal(serve, asking.requests[0], "x"), kGroupsHealthy),
              HasSubstr("StatefulSet serve-1 lacks pods: x"));
}

TEST(RefusedPods, AreNotAskedForWhileAllPodsExist) {
  World serve = stable_world();
  serve.set_ready("serve-0", false);
  serve.step();
  serve.now() += 1h;
  EXPECT_THAT(serve.plan().requests, IsEmpty());
  EXPECT_FALSE(serve.plan().requeue_after);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
