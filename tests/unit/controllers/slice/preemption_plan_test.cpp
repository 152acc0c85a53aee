// The plan that ends slices of lower priority, and its budget.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/pod_patches.h"
#include "tests/unit/controllers/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Options kTwoAnHour{.max_preemptions_per_hour = 2};

/// pool-a runs a slice of priority 0; a slice of priority 9 waits.
PlacementObserved a_full_pool(Duration now = 10s) {
  return observed({a_pool("pool-a")}, {a_slice("low").runs_in("pool-a"), a_slice("high").priority(9)}, now);
}

std::vector<std::string> deleted_by(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.kind == plan::ActionKind::kDelete) out.push_back(action.key.name);
    }
  }
  return out;
}

PodChange recorded(const std::string& text) {
  return [=](PodView& pod) { pod.annotations[std::string(tpu::kPreempted)] = text; };
}

/// Adds a slice that has this record on its host 0.
PlacementObserved with_record(const std::string& text, Duration now) {
  PlacementObserved seen = a_full_pool(now);
  for (PodPtr& pod : a_slice("earlier").priority(20).runs_in("pool-z").host(0, recorded(text)).pods()) {
    seen.pods.push_back(pod);
  }
  return seen;
}

TEST(PreemptionPlan, SetsConditionsAndTheRecordBeforeItDeletes) {
  const plan::Plan plan = plan_placement(a_full_pool(), kTwoAnHour);
  ASSERT_THAT(plan.stages, SizeIs(3)) << "waiting reason, preparations, deletes";
  std::vector<std::string> preparations;
  for (const plan::Action& action : plan.stages[1].actions) {
    EXPECT_FALSE(action.preconditions.uid.empty());
    preparations.push_back(fmt::format("{} {}", action.key.name, action.subresource));
  }
  EXPECT_THAT(preparations, ElementsAre("low-0 status", "low-1 status", "high-0 "));
  EXPECT_EQ(*plan.stages[1].actions[0].body.make(), Json::parse(R"({"status": {"conditions": [
    {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionBySliceController",
     "message": "a slice of priority 9 needs node pool pool-a", "lastTransitionTime": "2026-01-01T00:00:10Z"}]}})"));
  EXPECT_TRUE(plan.stages[1].actions[0].optional);
  EXPECT_EQ(string_at(*plan.stages[1].actions[2].body.make(), {"metadata", "annotations", tpu::kPreempted}),
            "1 2026-01-01T00:00:10Z");
  EXPECT_THAT(deleted_by(plan), ElementsAre("low-0", "low-1"));
  EXPECT_EQ(plan.stages[2].actions.size(), 2U);
}

TEST(PreemptionPlan, TellsTheVictim) {
  const plan::Plan plan = plan_placement(a_full_pool(), kTwoAnHour);
  const auto event = std::ranges::find(plan.events, "SlicePreempted", &plan::EventIntent::reason);
  ASSERT_NE(event, plan.events.end());
  EXPECT_EQ(event->message, "Slice low of priority 0 is ended: a slice of priority 9 needs node pool pool-a");
  EXPECT_EQ(event->regarding->kind, "Job");
  EXPECT_FALSE(event->type == plan::EventType::kWarning && event->after.has_value())
      << "such an event is sent only if the action fails";
}

TEST(PreemptionPlan, KeepsGatedAndSucceededHostsOfTheVictim) {
  PlacementObserved seen = observed(
      {a_pool("pool-a").size(4)},
      {a_slice("low").hosts(4).runs_in("pool-a").gated(1).succeeds(3), a_slice("high").hosts(4).priority(9)}, 10s);
  EXPECT_THAT(deleted_by(plan_placement(seen, kTwoAnHour)), ElementsAre("low-0", "low-2"));
}

TEST(PreemptionPlan, EndsASliceOnce) {
  PlacementObserved seen = a_full_pool();
  apply_plan(plan_placement(seen, kTwoAnHour), seen.pods);
  const plan::Plan second = plan_placement(seen, kTwoAnHour);
  EXPECT_THAT(deleted_by(second), IsEmpty());
  apply_plan(second, seen.pods);
  const plan::Plan third = plan_placement(seen, kTwoAnHour);
  EXPECT_TRUE(third.empty()) << plan::to_json(third).dump(2);
}

TEST(PreemptionPlan, IsTheSameForTheSameObservation) {
  const auto dump = [] {
    return plan::to_json(
               plan_placement(observed({a_pool("a"), a_pool("b"), a_pool("c")},
                                       {a_slice("l").runs_in("a"), a_slice("m").runs_in("b"), a_slice("n").runs_in("c"),
                                        a_slice("x").priority(9), a_slice("y").priority(8), a_slice("z").priority(7)},
                                       10s),
                              {.max_preemptions_per_hour = 9}))
        .dump();
  };
  EXPECT_EQ(dump(), dump());
}

TEST(PreemptionPlan, PlacesThePreemptorBeforeTheOlderVictim) {
  const PlacementObserved seen =
      observed({a_pool("pool-a")}, {a_slice("low").created(0s), a_slice("high").priority(9).created(5s)}, 20s);
  EXPECT_THAT(plan_placement(seen, kTwoAnHour).reason,
              HasSubstr("slice high of 2 hosts is placed in node pool pool-a"));
}

TEST(PreemptionPlan, EndsNothingByDefault) { EXPECT_THAT(deleted_by(plan_placement(a_full_pool(), {})), IsEmpty()); }

// The budget.

TEST(PreemptionBudget, CountsTheRecordsOfTheLastHour) {
  EXPECT_THAT(deleted_by(plan_placement(with_record("2 2026-01-01T00:00:00Z", 1h - 1s), kTwoAnHour)), IsEmpty());
  EXPECT_THAT(deleted_by(plan_placement(with_record("2 2026-01-01T00:00:00Z", 1h), kTwoAnHour)), SizeIs(2));
  EXPECT_THAT(deleted_by(plan_placement(with_record("1 2026-01-01T00:00:00Z", 1min), kTwoAnHour)), SizeIs(2));
  EXPECT_THAT(deleted_by(plan_placement(with_record("2147483647 2026-01-01T00:00:00Z", 1min), kTwoAnHour)), IsEmpty());
}

TEST(PreemptionBudget, IgnoresRecordsThatItCannotRead) {
  for (const char* text :
       {"", " ", "2", "two 2026-01-01T00:00:00Z", "-2 2026-01-01T00:00:00Z", "2 yesterday",
        "2 2026-01-01T00:00:00Z extra", "2  2026-01-01T00:00:00Z", "99999999999 2026-01-01T00:00:00Z"}) {
    EXPECT_THAT(deleted_by(plan_placement(with_record(text, 1min), kTwoAnHour)), SizeIs(2)) << text;
    EXPECT_EQ(recorded_preemptions(*with(a_slice("x").pod(0), recorded(text))), std::nullopt) << text;
  }
}

TEST(PreemptionBudget, IsNotUsedUpByARecordOfTheFarFuture) {
  EXPECT_THAT(deleted_by(plan_placement(with_record("2 9999-01-01T00:00:00Z", 1min), kTwoAnHour)), SizeIs(2));
}

TEST(PreemptionBudget, IsRecordedAcrossPlans) {
  const auto record = [](const std::string& before, Duration now) {
    const PodPtr pod = with(a_slice("x").pod(0), recorded(before));
    return std::string(
        string_at(*record_preemptions(*pod, 2, after(now)).body.make(), {"metadata", "annotations", tpu::kPreempted}));
  };
  EXPECT_EQ(record("", 5s), "2 2026-01-01T00:00:05Z");
  EXPECT_EQ(record("3 2026-01-01T00:00:00Z", 1h - 1s), "5 2026-01-01T00:59:59Z");
  EXPECT_EQ(record("3 2026-01-01T00:00:00Z", 1h), "2 2026-01-01T01:00:00Z");
  EXPECT_EQ(record("nonsense", 5s), "2 2026-01-01T00:00:05Z");
}

TEST(PreemptionBudget, IsPlannedAgainWhenARecordExpires) {
  const plan::Plan plan = plan_placement(with_record("2 2026-01-01T00:00:00Z", 50min), kTwoAnHour);
  ASSERT_TRUE(plan.requeue_after.has_value()) << "no event may happen within ten minutes";
  EXPECT_LE(*plan.requeue_after, Duration(10min));
}

}  // namespace
}  // namespace tpuslice::slice
