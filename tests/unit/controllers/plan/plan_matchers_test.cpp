#include "tests/support/plan_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

Plan a_plan() {
  Plan plan;
  plan.reason = "replace worker a";
  plan.stages.push_back({{Action::remove(kPods, {"default", "a"}, {.uid = "1"})}});
  plan.stages.push_back({{Action::patch(kServices, {"default", "b"}, {{"x", 1}}, {.uid = "2"})}});
  plan.events.push_back({EventType::kNormal, "DeletedPod", "Reconciling", "Deleted Pod a", std::nullopt});
  return plan;
}

template <typename Matcher>
std::string explanation(const Plan& plan, const Matcher& matcher) {
  testing::StringMatchResultListener listener;
  testing::ExplainMatchResult(matcher, plan, &listener);
  return listener.str();
}

TEST(PlanMatchers, PrintTheLinesThatDiffer) {
  Plan other = a_plan();
  other.reason = "replace worker b";
  EXPECT_THAT(a_plan(), EqualsPlan(a_plan()));
  EXPECT_THAT(explanation(other, EqualsPlan(a_plan())),
              HasSubstr("- reason: replace worker a\n+ reason: replace worker b\n"));
}

TEST(PlanMatchers, ListWritesAndEvents) {
  Plan plan = a_plan();
  plan.stages[0].actions[0].propagation = Propagation::kForeground;
  plan.stages[1].actions[0].subresource = "status";
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("delete Pod a Foreground"), ElementsAre("patch Service b status")));
  EXPECT_THAT(writes_of(plan), ElementsAre("delete Pod a Foreground", "patch Service b status"));
  EXPECT_THAT(writes_of(plan, "patch Service"), ElementsAre("patch Service b status"));
  EXPECT_THAT(writes_of(plan, "delete Po"), IsEmpty());
  EXPECT_THAT(a_plan(), HasEvent("DeletedPod"));
  EXPECT_THAT(a_plan(), Not(IsEmptyPlan()));
  EXPECT_THAT(Plan{}, IsEmptyPlan());
}

TEST(PlanMatchers, FindTheOnlyActionOfAWrite) {
  Plan plan = a_plan();
  EXPECT_EQ(action_of(plan, "patch Service b").preconditions.uid, "2");
  EXPECT_THAT(
      [&] { action_of(plan, "create Service b"); },
      ThrowsMessage<std::out_of_range>("0 of \"create Service b\"; the plan writes: delete Pod a, patch Service b"));
  plan.stages.push_back(plan.stages[1]);
  EXPECT_THAT([&] { action_of(plan, "patch Service b"); },
              ThrowsMessage<std::out_of_range>(HasSubstr("2 of \"patch Service b\"")));
}

}  // namespace
}  // namespace tpuslice::plan
