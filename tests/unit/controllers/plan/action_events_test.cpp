// What a plan reports of its actions: how it is printed, and the counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/changes.h"
#include "controllers/plan/plan.h"

namespace tpuslice::plan {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Action deletion_of(const std::string& name, std::shared_ptr<const ActionEvents> events) {
  Action action = Action::remove(kPods, {"default", name}, {.uid = "uid-of-" + name});
  action.events = std::move(events);
  return action;
}

std::shared_ptr<const ActionEvents> deletion_events() {
  return std::make_shared<const ActionEvents>(
      result_events({"Deleted", "Deleted the pods"}, {"FailedToDelete", "Failed to delete the pods"}));
}

TEST(ActionEvents, ArePrintedWithTheirAction) {
  Plan plan;
  plan.stages.push_back({{deletion_of("a", deletion_events())}});
  EXPECT_EQ(to_json(plan)["stages"], Json::parse(R"([[
    {"action": "delete", "resource": "pods", "object": "default/a", "uid": "uid-of-a",
     "onSuccess": [{"type": "Normal", "reason": "Deleted", "action": "Reconciling", "message": "Deleted the pods"}],
     "onFailure": [{"type": "Warning", "reason": "FailedToDelete", "action": "Reconciling",
                    "message": "Failed to delete the pods"}]}]])"));
  EXPECT_THAT(to_json(plan)["events"], IsEmpty());
}

TEST(ActionEvents, ArePrintedOnceIfActionsShareThem) {
  const auto shared = deletion_events();
  Plan plan;
  plan.stages.push_back({{deletion_of("a", shared), deletion_of("b", shared)}});
  plan.stages.push_back({{deletion_of("c", shared), deletion_of("d", deletion_events())}});
  const Json stages = to_json(plan)["stages"];
  EXPECT_TRUE(stages[0][0].contains("onSuccess"));
  EXPECT_FALSE(stages[0][0].contains("eventsWith"));
  for (const Json& other : {stages[0][1], stages[1][0]}) {
    EXPECT_EQ(other["eventsWith"], "default/a");
    EXPECT_FALSE(other.contains("onSuccess"));
    EXPECT_FALSE(other.contains("onFailure"));
  }
  // Equal events that are not shared are reported for each action.
  EXPECT_TRUE(stages[1][1].contains("onSuccess"));
}

TEST(ActionEvents, WithoutEventsAreNotPrinted) {
  Plan plan;
  plan.stages.push_back({{deletion_of("a", std::make_shared<const ActionEvents>()), deletion_of("b", nullptr)}});
  EXPECT_EQ(to_json(plan)["stages"], Json::parse(R"([[
    {"action": "delete", "resource": "pods", "object": "default/a", "uid": "uid-of-a"},
    {"action": "delete", "resource": "pods", "object": "default/b", "uid": "uid-of-b"}]])"));
}

TEST(ActionEvents, PrintWhatTheyRegard) {
  ActionEvents events{{{EventType::kNormal, "Deleted", "Reconciling", "Deleted the pod"}}};
  events.on_success[0].regarding = ObjectReference{"v1", "Pod", {"default", "a"}, "uid-of-a", "7"};
  events.on_success[0].related = ObjectReference{"v1", "Service", {"default", "b"}, "uid-of-b", "8"};
  Plan plan;
  plan.stages.push_back({{deletion_of("a", std::make_shared<const ActionEvents>(std::move(events)))}});
  const Json printed = to_json(plan)["stages"][0][0]["onSuccess"][0];
  EXPECT_EQ(printed["regarding"], "Pod default/a");
  EXPECT_EQ(printed["related"], "Service default/b");
}

TEST(Increment, OfACounterWithoutLabelAddsOne) {
  const Measurement measured = increment(CounterDefinition{"tpuslice_restarts_total", "Restarts."});
  EXPECT_EQ(measured.kind, Measurement::Kind::kCount);
  EXPECT_EQ(measured.name, "tpuslice_restarts_total");
  EXPECT_EQ(measured.help, "Restarts.");
  EXPECT_EQ(measured.value, 1);
  EXPECT_THAT(measured.labels, IsEmpty());
}

TEST(Increment, OfACounterWithALabelSetsItsValue) {
  const CounterDefinition finished{
      "tpuslice_finished_total", "Workloads that ended.", "result", {"Completed", "Failed"}};
  EXPECT_THAT(increment(finished, "Failed").labels, UnorderedElementsAre(Pair("result", "Failed")));
}

TEST(Increment, IsWhatCountingAddsToThePlan) {
  const CounterDefinition finished{
      "tpuslice_finished_total", "Workloads that ended.", "result", {"Completed", "Failed"}};
  Changes changes;
  changes.count(finished, "Completed");
  ASSERT_EQ(changes.measurements.size(), 1U);
  EXPECT_EQ(changes.measurements[0].labels, increment(finished, "Completed").labels);
}

}  // namespace
}  // namespace tpuslice::plan
