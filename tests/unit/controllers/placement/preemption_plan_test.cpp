// The plan that ends slices of lower priority, and its budget.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/placement_render.h"
#include "controllers/slice/pod_patches.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const PlacementOptions kTwoAnHour{.scale_up = {.namespace_name = "tpu-system"}, .max_preemptions_per_hour = 2};

/// pool-a runs a slice of priority 0; a slice of priority 9 waits.
PlacementScene a_full_pool(Duration now = 10s, const std::string& record = {}) {
  PlacementScene seen =
      observed({a_pool("pool-a")}, {a_slice("low").runs_in("pool-a"), a_slice("high").priority(9)}, now);
  seen.preemptions = preemption_records(record);
  return seen;
}

std::vector<std::string> deleted_by(const plan::Plan& plan) { return writes_of(plan, "delete Pod"); }

std::string waiting_reason(const plan::Plan& plan, const std::string& pod) {
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.key.name != pod || action.kind != plan::ActionKind::kPatch) continue;
      const std::string reason = string_at(*action.body.make(), {"metadata", "annotations", tpu::kWaiting});
      if (!reason.empty()) return reason;
    }
  }
  return "";
}

TEST(PreemptionPlan, PreemptsAPodWithoutASlice) {
  PlacementScene seen = observed({a_pool("pool-a")}, {a_slice("high").priority(9)}, 10s);
  seen.pods.push_back(a_pod_without_slice("notebook", "pool-a-0"));
  seen.preemptions = preemption_records();
  const plan::Plan plan = plan_placement(seen, kTwoAnHour);
  EXPECT_THAT(deleted_by(plan), ElementsAre("delete Pod notebook"));
  EXPECT_THAT(plan.reason, HasSubstr("pod notebook of priority 0 is preempted: a slice of priority 9 needs node pool "
                                     "pool-a"));
}

TEST(PreemptionPlan, WritesTheRecordThenConditionsBeforeItDeletes) {
  const plan::Plan plan = plan_placement(a_full_pool(), kTwoAnHour);
  ASSERT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("patch Pod high-0"), ElementsAre("patch ConfigMap tpu-slice-preemptions"),
                          ElementsAre("patch Pod low-0 status", "patch Pod low-1 status"),
                          ElementsAre("delete Pod low-0", "delete Pod low-1")))
      << "waiting reason, record, conditions, deletes";
  const plan::Action record = action_of(plan, "patch ConfigMap tpu-slice-preemptions");
  EXPECT_EQ(record.key.to_string(), "tpu-system/tpu-slice-preemptions");
  EXPECT_EQ(record.preconditions.resource_version, "7");
  EXPECT_EQ(*record.body.make(), Json::parse(R"({"data": {"tpu-v6e-slice": "1 2026-01-01T00:02:00Z"}})"));
  EXPECT_FALSE(plan.stages[1].continue_on_failure) << "without a record nothing is preempted";
  EXPECT_FALSE(record.best_effort);
  for (const plan::Action& action : plan.stages[2].actions) EXPECT_FALSE(action.preconditions.uid.empty());
  const plan::Action condition = action_of(plan, "patch Pod low-0 status");
  EXPECT_EQ(*condition.body.make(), Json::parse(R"({"status": {"conditions": [
    {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionBySliceController",
     "message": "a slice of priority 9 needs node pool pool-a", "lastTransitionTime": "2026-01-01T00:00:10Z"}]}})"));
  EXPECT_TRUE(condition.best_effort);
}

TEST(PreemptionPlan, FirstCreatesTheConfigMap) {
  PlacementScene seen = a_full_pool();
  seen.preemptions = {true, nullptr};
  const plan::Plan plan = plan_placement(seen, kTwoAnHour);
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("patch Pod high-0"), ElementsAre("create ConfigMap tpu-slice-preemptions")));
  const plan::Action create = action_of(plan, "create ConfigMap tpu-slice-preemptions");
  EXPECT_EQ(create.key.to_string(), "tpu-system/tpu-slice-preemptions");
  EXPECT_FALSE(create.body.make()->contains("data"));
  EXPECT_TRUE(plan.requeue_after.has_value()) << "an empty ConfigMap concerns no accelerator";
  EXPECT_THAT(plan, ::testing::Not(plan::HasEvent("SlicePreempted")));
}

TEST(PreemptionPlan, EndsNothingWhileTheConfigMapCannotBeRead) {
  PlacementScene seen = a_full_pool();
  seen.preemptions = {};
  const plan::Plan plan = plan_placement(seen, kTwoAnHour);
  EXPECT_THAT(deleted_by(plan), IsEmpty());
  EXPECT_THAT(waiting_reason(plan, "high-0"),
              HasSubstr("; a slice of lower priority would be preempted for it, but ConfigMap "
                        "tpu-system/tpu-slice-preemptions cannot be read"));
  EXPECT_TRUE(plan.requeue_after.has_value()) << "no event says that it can";
  EXPECT_EQ(plan_placement(seen, {}).requeue_after, std::nullopt) << "not needed by default";
}

TEST(PreemptionPlan, EndsNothingWhileItsRecordIsInvalid) {
  PlacementScene seen = a_full_pool();
  seen.preemptions = preemption_records("1 yesterday");
  const plan::Plan plan = plan_placement(seen, kTwoAnHour);
  EXPECT_THAT(deleted_by(plan), IsEmpty());
  EXPECT_THAT(waiting_reason(plan, "high-0"),
              HasSubstr("; a slice of lower priority would be preempted for it, but ConfigMap "
                        "tpu-system/tpu-slice-preemptions: data[tpu-v6e-slice]: Invalid value: \"1 yesterday\": "
                        "remove that entry"));
}

TEST(PreemptionPlan, AddsAnEventToTheVictim) {
  const plan::Plan plan = plan_placement(a_full_pool(), kTwoAnHour);
  const std::vector<const plan::ActionEvents*> reports = reports_of(plan);
  ASSERT_THAT(reports, SizeIs(1));
  const plan::EventIntent& event = reports[0]->on_success.at(0);
  EXPECT_EQ(event.message, "Slice low of priority 0 is preempted: a slice of priority 9 needs node pool pool-a");
  EXPECT_EQ(event.regarding->kind, "Job");
  EXPECT_EQ(reports[0]->on_failure.at(0).message,
            "Slice low of priority 0 is preempted: a slice of priority 9 needs node pool pool-a; not all of its pods "
            "could be deleted:");
  EXPECT_THAT(plan, plan::CountsOnly(placement::kCounters));
  EXPECT_EQ(reports[0]->measurements.at(0).name, "tpuslice_slices_preempted_total");
  for (const plan::Action& action : plan.stages.at(3).actions) EXPECT_EQ(action.events.get(), reports[0]);
  for (const plan::Action& action : plan.stages.at(2).actions) EXPECT_EQ(action.events, nullptr) << "best effort";
}

TEST(PreemptionPlan, KeepsGatedAndSucceededHostsOfTheVictim) {
  PlacementScene seen = observed(
      {a_pool("pool-a").size(4)},
      {a_slice("low").hosts(4).runs_in("pool-a").gated(1).succeeds(3), a_slice("high").hosts(4).priority(9)}, 10s);
  seen.preemptions = preemption_records();
  EXPECT_THAT(deleted_by(plan_placement(seen, kTwoAnHour)), ElementsAre("delete Pod low-0", "delete Pod low-2"));
}

TEST(PreemptionPlan, EndsASliceOnce) {
  PlacementScene seen = a_full_pool();
  apply_plan(plan_placement(seen, kTwoAnHour), seen.pods);
  seen.preemptions = preemption_records("1 2026-01-01T00:02:00Z");
  const plan::Plan second = plan_placement(seen, kTwoAnHour);
  EXPECT_THAT(deleted_by(second), IsEmpty());
  apply_plan(second, seen.pods);
  const plan::Plan third = plan_placement(seen, kTwoAnHour);
  EXPECT_TRUE(third.empty()) << plan::to_json(third).dump(2);
}

TEST(PreemptionPlan, IsTheSameForTheSameObservation) {
  const auto dump = [] {
    PlacementScene seen = observed({a_pool("a"), a_pool("b"), a_pool("c")},
                                   {a_slice("l").runs_in("a"), a_slice("m").runs_in("b"), a_slice("n").runs_in("c"),
                                    a_slice("x").priority(9), a_slice("y").priority(8), a_slice("z").priority(7)},
                                   10s);
    seen.preemptions = preemption_records();
    const plan::Plan plan = plan_placement(seen, {.max_preemptions_per_hour = 9});
    EXPECT_THAT(deleted_by(plan), SizeIs(6));
    return plan::to_json(plan).dump();
  };
  EXPECT_EQ(dump(), dump());
}

TEST(PreemptionPlan, PlacesThePreemptorBeforeTheOlderVictim) {
  const PlacementScene seen =
      observed({a_pool("pool-a")}, {a_slice("low").created(0s), a_slice("high").priority(9).created(5s)}, 20s);
  EXPECT_THAT(plan_placement(seen, kTwoAnHour).reason,
              HasSubstr("slice high of 2 hosts is placed in node pool pool-a"));
}

TEST(PreemptionPlan, EndsNothingByDefault) { EXPECT_THAT(deleted_by(plan_placement(a_full_pool(), {})), IsEmpty()); }

// The budget.

TEST(PreemptionPlan, EndsNoMoreThanTheRecordLeaves) {
  EXPECT_THAT(deleted_by(plan_placement(a_full_pool(1h - 1s, "2 2026-01-01T00:00:00Z"), kTwoAnHour)), IsEmpty());
  EXPECT_THAT(deleted_by(plan_placement(a_full_pool(1h, "2 2026-01-01T00:00:00Z"), kTwoAnHour)), SizeIs(2));
  EXPECT_THAT(deleted_by(plan_placement(a_full_pool(1min, "1 2026-01-01T00:00:00Z"), kTwoAnHour)), SizeIs(2));
}

TEST(PreemptionPlan, AddsToTheRecord) {
  const plan::Plan plan = plan_placement(a_full_pool(30min, "1 2026-01-01T00:02:00Z"), kTwoAnHour);
  EXPECT_EQ(*action_of(plan, "patch ConfigMap tpu-slice-preemptions").body.make(),
            Json::parse(R"({"data": {"tpu-v6e-slice": "1 2026-01-01T00:02:00Z, 1 2026-01-01T00:31:00Z"}})"));
}

TEST(PreemptionPlan, HasABudgetForEachAccelerator) {
  PlacementScene seen = a_full_pool(1min);
  PreemptionRecords records = *seen.preemptions.records;
  records.data["tpu7x"] = "2 2026-01-01T00:00:00Z";
  seen.preemptions.records = std::make_shared<const PreemptionRecords>(records);
  EXPECT_THAT(deleted_by(plan_placement(seen, kTwoAnHour)), SizeIs(2));
}

TEST(PreemptionPlan, SaysThatTheBudgetIsUsedUp) {
  const plan::Plan plan = plan_placement(a_full_pool(50min, "2 2026-01-01T00:02:00Z"), kTwoAnHour);
  EXPECT_THAT(
      waiting_reason(plan, "high-0"),
      HasSubstr("; a slice of lower priority would be preempted for it, but the preemption budget of 2 an hour is "
                "used up; next at 2026-01-01T01:02:00Z"));
  ASSERT_TRUE(plan.requeue_after.has_value()) << "no event may happen within twelve minutes";
  EXPECT_EQ(*plan.requeue_after, Duration(12min));
}

}  // namespace
}  // namespace tpuslice::placement
