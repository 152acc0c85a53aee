#include "tests/support/plan_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

TEST(PlanMatchers, CompareTheObjectsOfOneTypeAndAction) {
  EXPECT_THAT(a_plan(), Deletes(kPods, {"a"}));
  EXPECT_THAT(a_plan(), Patches(kServices, {"b"}));
  EXPECT_THAT(a_plan(), Creates(kPods, {}));
  EXPECT_THAT(a_plan(), Not(Deletes(kPods, {"a", "b"})));
  EXPECT_EQ(explanation(a_plan(), Deletes(kPods, {"c", "d"})), "missing: c, d unexpected: a");
}

TEST(PlanMatchers, PrintTheLinesThatDiffer) {
  Plan other = a_plan();
  other.reason = "replace worker b";
  EXPECT_THAT(a_plan(), EqualsPlan(a_plan()));
  EXPECT_THAT(explanation(other, EqualsPlan(a_plan())),
              HasSubstr("- reason: replace worker a\n+ reason: replace worker b\n"));
}

TEST(PlanMatchers, ListStagesAndEvents) {
  EXPECT_THAT(stages_of(a_plan()), ElementsAre(ElementsAre("delete a"), ElementsAre("patch b")));
  EXPECT_THAT(a_plan(), HasEvent("DeletedPod"));
  EXPECT_THAT(a_plan(), Not(IsEmptyPlan()));
  EXPECT_THAT(Plan{}, IsEmptyPlan());
}

}  // namespace
}  // namespace tpuslice::plan
