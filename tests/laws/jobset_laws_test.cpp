// The four laws for JobSets, over generated observations: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/laws/jobset_generator.h"
#include "tests/laws/jobset_violations.h"
#include "tests/laws/laws.h"
#include "tests/laws/refusals.h"

namespace tpuslice::jobset {
namespace {

using plan::Action;
using plan::Plan;
using testing::IsEmpty;

constexpr int kMaxRounds = 60;  // Enough for all allowed restarts.

class JobSetLaws : public laws::Laws<JobSetGenerator, 320, 8'000> {};

Plan plan_of(const World& world) {
  ++JobSetLaws::seen();
  return world.plan();
}

/// A write that fails has a reason, such as a Job of another owner, and is not one with a wrong precondition.
void carry_out(const Plan& plan, World& world) {
  EXPECT_TRUE(world.carry_out(plan) || world.last_failure()) << plan.reason;
}

/// Runs until the plan is empty; returns violations on the way and defects at the end.
std::vector<std::string> settle(World& world) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const Plan plan = plan_of(world);
    if (std::vector<std::string> broken = violations(world.observed(), plan); !broken.empty()) return broken;
    const bool idle = plan.empty() && !plan.requeue_after;
    carry_out(plan, world);
    const auto before = world.jobs();
    settle_children(world);
    // Only time changes the plan.
    if (plan.empty() && plan.requeue_after) world.now() += *plan.requeue_after;
    if (idle && before == world.jobs() && plan_of(world).empty()) return defects_at_rest(world.observed());
  }
  return {"does not reach a fixpoint: " + plan_of(world).reason};
}

/// For comparing two worlds at rest.
Json summary_of(const World& world) {
  Json out = Json::object();
  for (const auto& [name, job] : world.jobs()) {
    out[name] = {{"attempt", string_at(job, {"metadata", "labels", kRestartAttempt})},
                 {"own attempt", string_at(job, {"metadata", "labels", kJobRestartAttempt})},
                 {"suspended", bool_at(job, {"spec", "suspend"})}};
  }
  const JobSetStatus status = JobSetStatus::read(world.jobset());
  out["status"] = {{"restarts", status.restarts},
                   {"terminalState", status.terminal_state},
                   {"executionAttempts", status.execution_attempts.value_or(-1)}};
  return out;
}

TEST_F(JobSetLaws, GeneratorCoversAllPhases) {
  int ignored = 0;
  int finished = 0;
  int suspended = 0;
  int failed = 0;
  int restarting = 0;
  int overlapping = 0;  ///< Jobs that are deleted before their pods.
  for_many_worlds([&](JobSetGenerator& generator) {
    const World world = generator.world();
    const Scene scene(world);
    ignored += is_not_reconciled(scene.seen) ? 1 : 0;
    finished += scene.state.status.finished() ? 1 : 0;
    suspended += scene.state.spec.suspended ? 1 : 0;
    failed += scene.state.children.failed.empty() ? 0 : 1;
    restarting += scene.state.children.previous.empty() ? 0 : 1;
    for (const Action& action : actions_of(plan_of(world))) {
      const bool as_seen = !action.preconditions.resource_version.empty();
      overlapping += as_seen && action.propagation == plan::Propagation::kBackground ? 1 : 0;
    }
  });
  EXPECT_LT(ignored, world_count() / 6);
  const std::vector<std::pair<const char*, int>> phases = {
      {"finished", finished}, {"suspended", suspended}, {"failed", failed}, {"restarting", restarting}};
  for (const auto& [phase, worlds] : phases) EXPECT_GT(worlds, world_count() / 25) << phase;
  EXPECT_GT(overlapping, world_count() / 100);
}

TEST_F(JobSetLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](JobSetGenerator& generator) {
    World world = generator.world();
    for (int round = 0; round < 3; ++round) {
      JobSetObserved again = World(world).observed();
      again.jobset = Object(Json::parse(again.jobset.json().dump()));
      std::ranges::reverse(again.claims);
      const Plan plan = plan_of(world);
      ASSERT_EQ(to_json(plan).dump(), to_json(plan_jobset(again, world.options)).dump());
      carry_out(plan, world);
      generator.advance(world);
    }
  });
}

TEST_F(JobSetLaws, EveryWorldReachesAFixpointAndIsNotWrittenAgain) {
  for_many_worlds([](JobSetGenerator& generator) {
    World world = generator.world();
    ASSERT_THAT(settle(world), IsEmpty());
    for (int round = 0; round < 3; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.now() += std::chrono::seconds(1);
    }
  });
}

TEST_F(JobSetLaws, NoPlanViolatesAnInvariant) {
  for_many_worlds([](JobSetGenerator& generator) {
    World world = generator.world();
    for (int round = 0; round < 10; ++round) {
      const JobSetObserved seen = world.observed();
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(seen, plan), IsEmpty()) << plan.reason << "\n" << seen.jobset.json().dump(1);
      world.carry_out(laws::shuffled(plan, generator), generator.chance(70) ? SIZE_MAX : laws::cut(plan, generator));
      if (generator.chance(20)) generator.edit(world);
      if (generator.chance(80)) generator.advance(world);
    }
    ASSERT_THAT(settle(world), IsEmpty());
  });
}

TEST_F(JobSetLaws, ACrashAfterAnyActionDoesNotChangeTheResult) {
  for_many_worlds([](JobSetGenerator& generator) {
    World whole = generator.world();
    const int rounds = generator.below(3);
    for (int round = 0; round < rounds; ++round) {
      carry_out(plan_of(whole), whole);
      generator.advance(whole);
    }
    World cut = whole;
    const Plan plan = plan_of(cut);
    cut.carry_out(plan, laws::cut(plan, generator));
    ASSERT_THAT(settle(cut), IsEmpty());
    ASSERT_THAT(settle(whole), IsEmpty());
    ASSERT_EQ(summary_of(cut), summary_of(whole));
  });
}

TEST_F(JobSetLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](JobSetGenerator& generator) {
    World world = generator.world();
    const auto check = [](const World& each, const Plan& plan) { return violations(each.observed(), plan); };
    const auto advance = [&](World& each) { generator.advance(each); };
    refused += laws::reconcile_refused<World>(world, generator, {.violations = check, .advance = advance});
    ASSERT_THAT(settle(world), IsEmpty());
  });
  EXPECT_GT(refused, world_count() / 10);
}

TEST_F(JobSetLaws, AFailedStatusWriteDoesNotChangeThePlan) {
  for_many_worlds([](JobSetGenerator& generator) {
    World world = generator.world();
    world.fail("", "");
    const std::string plan = to_json(plan_of(world)).dump();
    world.fail("FailedUpdateStatus", "it was lost");
    ASSERT_EQ(to_json(plan_of(world)).dump(), plan);
  });
}

}  // namespace
}  // namespace tpuslice::jobset
