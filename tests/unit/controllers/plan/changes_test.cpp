#include "controllers/plan/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_matchers.h"

namespace tpuslice::plan {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

enum class Step : std::uint8_t { kDeletes, kServices, kPods };

TEST(Changes, RunInTheOrderOfTheKindsStages) {
  Changes changes;
  changes.add(Step::kPods, Action::remove(kPods, {"default", "b"}, {.uid = "2"}));
  changes.add(Step::kDeletes, Action::remove(kPods, {"default", "a"}, {.uid = "1"}));
  changes.stage(Step::kDeletes).independent = true;
  const Plan plan = to_plan(std::move(changes), Json(), Json());
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("delete Pod a"), ElementsAre("delete Pod b")));
  EXPECT_TRUE(plan.stages[0].independent);
}

TEST(Changes, WriteTheStatusOnlyIfItDiffers) {
  EXPECT_FALSE(to_plan({}, {{"ready", 1}}, {{"ready", 1}}).status.has_value());
  const Plan plan = to_plan({}, {{"ready", 1}}, {{"ready", 2}}, "status: 2 ready");
  EXPECT_EQ(plan.status->status, Json({{"ready", 2}}));
  EXPECT_EQ(plan.reason, "status: 2 ready");
}

TEST(Changes, GiveTheirReasonsToThePlan) {
  Changes changes;
  changes.reasons = {"pod a is missing: creating it"};
  EXPECT_EQ(to_plan(changes, Json(), {{"ready", 1}}).reason, "pod a is missing: creating it");
}

TEST(Changes, RequeueAfterTheShortestTime) {
  Changes changes;
  changes.requeue_within(seconds(30));
  changes.requeue_within(seconds(5));
  changes.requeue_within(seconds(60));
  EXPECT_EQ(changes.requeue_after, Duration(seconds(5)));
  changes.requeue_within(seconds(-1));
  EXPECT_EQ(changes.requeue_after, Duration(std::chrono::milliseconds(1)));
}

TEST(Changes, CarryEventsAndCountersIntoThePlan) {
  Changes changes;
  changes.event(EventType::kWarning, "InvalidSpec", "spec.replicas is negative");
  changes.count(CounterDefinition{"tpuslice_restarts_total", "Restarts."});
  const Plan plan = to_plan(std::move(changes), Json(), Json());
  EXPECT_THAT(plan.events,
              ElementsAre(EventIntent{EventType::kWarning, "InvalidSpec", "Reconciling", "spec.replicas is negative"}));
  ASSERT_THAT(plan.measurements, SizeIs(1));
  EXPECT_EQ(plan.measurements[0].name, "tpuslice_restarts_total");
  EXPECT_EQ(plan.measurements[0].value, 1);
}

TEST(Changes, CarryWhatIsReportedOfAnAction) {
  Changes changes;
  changes.add(Step::kDeletes, Action::remove(kPods, {"default", "a"}, {.uid = "1"}),
              result_events({"Deleted", "deleted a"}, {"FailedToDelete", "failed to delete a"}, "Delete"));
  const ActionEvents& events = *changes.stage(Step::kDeletes).actions[0].events;
  EXPECT_THAT(events.on_success, ElementsAre(EventIntent{EventType::kNormal, "Deleted", "Delete", "deleted a"}));
  EXPECT_THAT(events.on_failure,
              ElementsAre(EventIntent{EventType::kWarning, "FailedToDelete", "Delete", "failed to delete a"}));
  EXPECT_THAT(events.measurements, IsEmpty());
}

TEST(Changes, KeepTheActionsOfAStepInTheOrderInWhichTheyWereAdded) {
  Changes changes;
  changes.add(Step::kPods, Action::remove(kPods, {"default", "a"}, {.uid = "1"}));
  changes.add(Step::kPods,
              {Action::remove(kPods, {"default", "b"}, {.uid = "2"}), Action::remove(kPods, {"default", "c"}, {})}, {});
  changes.add(Step::kPods, Action::remove(kPods, {"default", "d"}, {.uid = "4"}));
  std::vector<std::string> names;
  for (const Action& action : changes.stage(Step::kPods).actions) names.push_back(action.key.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d"));
}

TEST(Changes, ActionsOfAGroupShareWhatIsReported) {
  Changes changes;
  changes.add(Step::kPods,
              {Action::remove(kPods, {"default", "a"}, {.uid = "1"}), Action::remove(kPods, {"default", "b"}, {})},
              {.on_success = {{EventType::kNormal, "DeletedPods", "Reconciling", "Deleted pods a and b"}}});
  const std::vector<Action>& group = changes.stage(Step::kPods).actions;
  ASSERT_THAT(group, SizeIs(2));
  ASSERT_NE(group[0].events, nullptr);
  EXPECT_EQ(group[0].events, group[1].events);
  EXPECT_EQ(group[0].events->on_success[0].reason, "DeletedPods");
}

TEST(Changes, ActionsThatAreAddedAloneReportTheirOwnEvents) {
  Changes changes;
  changes.add(Step::kPods, {Action::remove(kPods, {"default", "a"}, {.uid = "1"})}, {});
  changes.add(Step::kPods, {Action::remove(kPods, {"default", "b"}, {.uid = "2"})}, {});
  changes.add(Step::kPods, Action::remove(kPods, {"default", "c"}, {.uid = "3"}));
  const std::vector<Action>& actions = changes.stage(Step::kPods).actions;
  EXPECT_NE(actions[0].events, actions[1].events);
  EXPECT_EQ(actions[2].events, nullptr);
}

TEST(Changes, AGroupOfNothingAddsNothing) {
  Changes changes;
  changes.add(Step::kPods, std::vector<Action>(), {.on_success = {{EventType::kNormal, "DeletedPods", "A", "none"}}});
  EXPECT_TRUE(to_plan(std::move(changes), Json(), Json()).empty());
}

struct CountsCase {
  const char* name;
  Json before;
  Json after;
  bool counts_only;
};

/// A status with a list of one item.
Json with_item(Json item) {
  Json items = Json::array();
  items.push_back(std::move(item));
  return {{"items", std::move(items)}};
}

class Counts : public ::testing::TestWithParam<CountsCase> {};

TEST_P(Counts, AreMarkedIfNothingElseDiffers) {
  Plan plan = to_plan(Changes{}, GetParam().before, GetParam().after);
  mark_counts(plan, GetParam().before, {"ready", "replicas"});
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->counts_only, GetParam().counts_only);
  EXPECT_EQ(plan.status->status, GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    All, Counts,
    ::testing::Values(CountsCase{"OneCount", {{"ready", 1}, {"phase", "a"}}, {{"ready", 2}, {"phase", "a"}}, true},
                      CountsCase{"CountAdded", {{"phase", "a"}}, {{"ready", 2}, {"phase", "a"}}, true},
                      CountsCase{"CountRemoved", {{"ready", 1}, {"phase", "a"}}, {{"phase", "a"}}, true},
                      CountsCase{"AnotherField", {{"ready", 1}, {"phase", "a"}}, {{"ready", 2}, {"phase", "b"}}, false},
                      CountsCase{"FieldAdded", {{"ready", 1}}, {{"ready", 2}, {"phase", "b"}}, false},
                      CountsCase{"FirstStatus", Json(), {{"ready", 2}}, false},
                      CountsCase{"CountOfAnItem", with_item({{"ready", 1}}), with_item({{"ready", 2}}), true},
                      CountsCase{"CountAddedToAnItem", with_item(Json::object()), with_item({{"ready", 2}}), true},
                      CountsCase{"AnotherFieldOfAnItem", with_item({{"restarts", Json::array({0, 1})}}),
                                 with_item({{"restarts", Json::array({1, 1})}}), false},
                      CountsCase{"FieldAddedToAnItem", with_item({{"ready", 1}}),
                                 with_item({{"ready", 1}, {"restarts", 1}}), false},
                      CountsCase{"ItemAdded", {{"items", Json::array()}}, with_item({{"ready", 1}}), false},
                      CountsCase{"ItemsAdded", Json::object(), with_item({{"ready", 1}}), false}),
    [](const auto& test) { return test.param.name; });

TEST(MarkCounts, IgnoresAPlanWithoutStatus) {
  Plan plan;
  mark_counts(plan, {{"ready", 1}}, {"ready"});
  EXPECT_FALSE(plan.status);
}

TEST(JoinNames, CountsTheNamesBeyondTheLimit) {
  EXPECT_THAT(join_names({}), IsEmpty());
  EXPECT_EQ(join_names({"a", "b"}, 2), "a, b");
  EXPECT_EQ(join_names({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

}  // namespace
}  // namespace tpuslice::plan
