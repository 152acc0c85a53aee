// The four laws for LeaderWorkerSets, over generated observations: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/plan/conditions.h"
#include "tests/laws/laws.h"
#include "tests/laws/leaderworkerset_generator.h"
#include "tests/laws/leaderworkerset_violations.h"
#include "tests/laws/refusals.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::Plan;
using testing::IsEmpty;

constexpr int kMaxRounds = 120;  // Enough for a rollout group by group, and restarts with back-off.

class LeaderWorkerSetLaws : public laws::Laws<LeaderWorkerSetGenerator, 320, 8'000> {};

Plan plan_of(const LeaderWorkerSetObserved& seen) {
  ++LeaderWorkerSetLaws::seen();
  return plan_leaderworkerset(seen);
}

/// Runs until the plan is empty; returns violated invariants.
std::vector<std::string> run_until_stable(World& world) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const LeaderWorkerSetObserved seen = world.observed();
    const Plan plan = plan_of(seen);
    if (std::vector<std::string> broken = plan_violations(seen, plan); !broken.empty()) {
      broken.push_back(plan.reason + "\n" + world.describe());
      return broken;
    }
    const bool stable = plan.empty() && !plan.requeue_after;
    world.carry_out(plan);
    const World::Objects pods = world.pods();
    world.advance();
    // Only time can change the next plan.
    if (plan.empty() && plan.requeue_after) world.now() += *plan.requeue_after;
    if (stable && pods == world.pods() && plan_of(world.observed()).empty())
      return settled_violations(world.observed());
  }
  return {"does not become stable: " + plan_of(world.observed()).reason + "\n" + world.describe()};
}

/// A world after a random history.
World random_history(LeaderWorkerSetGenerator& generator) {
  World world = generator.world();
  const int rounds = generator.below(12);
  for (int round = 0; round < rounds; ++round) {
    world.carry_out(plan_of(world.observed()));
    if (generator.chance(30)) {
      world.advance();
    } else {
      generator.step(world);
    }
    if (generator.chance(20)) generator.edit(world);
    if (generator.chance(15)) generator.inject_fault(world);
  }
  return world;
}

/// State by which stable worlds are compared.
Json final_state(const World& world) {
  Json out = Json::object();
  for (const auto& [name, pod] : world.pods()) out[name] = string_at(pod, {"metadata", "labels", kRevisionKey});
  for (const auto& [name, set] : world.stateful_sets()) out["set " + name] = set["spec"];
  // Conditions that are False depend on the history.
  Json status = world.set()["status"];
  Json conditions = Json::array();
  for (const Json& condition : status["conditions"]) {
    if (condition["status"] == "True") conditions.push_back(condition["type"]);
  }
  status["conditions"] = std::move(conditions);
  out["status"] = std::move(status);
  return out;
}

TEST_F(LeaderWorkerSetLaws, CoverSetsInEveryPhase) {
  int refused = 0;
  int empty = 0;
  int outdated = 0;
  int unready = 0;
  for_many_worlds([&](LeaderWorkerSetGenerator& generator) {
    const World world = random_history(generator);
    const Json& status = world.set().value("status", Json::object());
    const auto replicas = int_at(world.set(), {"spec", "replicas"});
    refused += condition_status(array_at(status, {"conditions"}), plan::kAccepted) == "False" ? 1 : 0;
    empty += world.pods().empty() ? 1 : 0;
    outdated += int_at(status, {"updatedReplicas"}) < replicas ? 1 : 0;
    unready += int_at(status, {"readyReplicas"}) < replicas ? 1 : 0;
  });
  EXPECT_LT(refused, world_count() / 10);
  EXPECT_LT(empty, world_count() / 2);
  for (const int some : {outdated, unready}) EXPECT_GT(some, world_count() / 10);
}

TEST_F(LeaderWorkerSetLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    const World world = random_history(generator);
    LeaderWorkerSetObserved again = world.observed();
    again.set = Object(Json::parse(again.set.json().dump()));
    generator.shuffle(again.pods);
    generator.shuffle(again.stateful_sets);
    generator.shuffle(again.revisions);
    generator.shuffle(again.services);
    ASSERT_EQ(to_json(plan_of(world.observed())).dump(), to_json(plan_of(again)).dump());
  });
}

TEST_F(LeaderWorkerSetLaws, EveryWorldBecomesStableAndThenNothingIsWritten) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    World world = random_history(generator);
    ASSERT_THAT(run_until_stable(world), IsEmpty());
    for (int round = 0; round < 3; ++round) {
      const Plan plan = plan_of(world.observed());
      ASSERT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.now() += std::chrono::seconds(1);
    }
  });
}

TEST_F(LeaderWorkerSetLaws, NoPlanViolatesAnInvariant) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    World world = random_history(generator);
    for (int round = 0; round < 10; ++round) {
      const LeaderWorkerSetObserved seen = world.observed();
      Plan plan = plan_of(seen);
      ASSERT_THAT(plan_violations(seen, plan), IsEmpty()) << plan.reason << "\n" << world.describe();
      const bool complete = generator.chance(70);
      for (plan::Stage& stage : plan.stages) {
        generator.shuffle(stage.actions);
        if (!complete)
          stage.actions.resize(static_cast<std::size_t>(generator.below(static_cast<int>(stage.actions.size()) + 1)));
      }
      if (!complete) plan.status.reset();
      world.carry_out(plan);
      if (generator.chance(25)) generator.edit(world);
      if (generator.chance(25)) generator.inject_fault(world);
      if (generator.chance(80)) generator.step(world);
    }
    ASSERT_THAT(run_until_stable(world), IsEmpty());
  });
}

TEST_F(LeaderWorkerSetLaws, ACrashAfterAnyActionDoesNotChangeTheFinalState) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    World whole = random_history(generator);
    World cut = whole;
    const Plan plan = plan_of(cut.observed());
    cut.carry_out(plan, laws::cut(plan, generator));
    ASSERT_THAT(run_until_stable(cut), IsEmpty());
    ASSERT_THAT(run_until_stable(whole), IsEmpty());
    const Json difference = Json::diff(final_state(whole), final_state(cut));
    ASSERT_TRUE(difference.empty()) << difference.dump(1) << "\n" << plan.reason << "\n" << whole.describe();
  });
}

TEST_F(LeaderWorkerSetLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](LeaderWorkerSetGenerator& generator) {
    World world = random_history(generator);
    const auto check = [](const World& each, const Plan& plan) { return plan_violations(each.observed(), plan); };
    // Revisions are deleted after a rollout, and the children of groups are made from a revision that exists.
    const auto may_wait = [](const Action& action, const std::vector<Action>& all) {
      const bool creates_revision = std::ranges::any_of(all, [](const Action& each) {
        return each.kind == plan::ActionKind::kCreate && each.type == kControllerRevisions;
      });
      return action.type == kControllerRevisions || (creates_revision && action.type != kPods);
    };
    refused += laws::reconcile_refused<World>(
        world, generator,
        {.violations = check, .advance = [&](World& each) { generator.step(each); }, .may_wait = may_wait});
    ASSERT_THAT(run_until_stable(world), IsEmpty());
  });
  EXPECT_GT(refused, world_count() / 10);
}

TEST_F(LeaderWorkerSetLaws, AFailedStatusWriteDoesNotChangeThePlan) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    LeaderWorkerSetObserved seen = random_history(generator).observed();
    seen.last_failure.reset();
    const std::string plan = to_json(plan_of(seen)).dump();
    seen.last_failure = plan::Failure{"FailedUpdateStatus", "it was lost"};
    ASSERT_EQ(to_json(plan_of(seen)).dump(), plan);
  });
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
