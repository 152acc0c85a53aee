// The four laws for LeaderWorkerSets, over generated observations: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "api/base/check.h"
#include "api/types/conditions.h"
#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "tests/laws/laws.h"
#include "tests/laws/leaderworkerset_breaches.h"
#include "tests/laws/leaderworkerset_generator.h"

namespace tpuslice::leaderworkerset {
namespace {

using runtime::Action;
using runtime::Plan;
using testing::IsEmpty;

constexpr int kRounds = 120;  // A rollout of all groups, one after the other, and restarts that back off.

class LeaderWorkerSetLaws : public laws::Laws<LeaderWorkerSetGenerator, 320, 8'000> {};

Plan plan_of(const LeaderWorkerSetObserved& seen) {
  ++LeaderWorkerSetLaws::seen();
  Result<Plan> plan = plan_leaderworkerset(seen);
  TPUSLICE_CHECK_MSG(plan.ok(), plan.ok() ? "" : plan.error().message());
  return *std::move(plan);
}

void carry_on(const Plan& plan, SetWorld& world) {
  for (const runtime::Stage& stage : plan.stages) {
    for (const Action& action : stage.actions) world.perform(action);
  }
  if (plan.status) world.write_status(plan.status->status);
}

/// Runs until nothing is left to do; says what was wrong on the way and in the end.
std::vector<std::string> settle(SetWorld& world) {
  for (int round = 0; round < kRounds; ++round) {
    const LeaderWorkerSetObserved seen = world.seen();
    const Plan plan = plan_of(seen);
    if (std::vector<std::string> broken = breaches(seen, plan); !broken.empty()) {
      broken.push_back(plan.reason + "\n" + world.describe());
      return broken;
    }
    const bool ended = plan.empty() && !plan.requeue_after;
    carry_on(plan, world);
    const SetWorld::Objects pods = world.pods();
    world.calm_down();
    // Nothing but time will change anything.
    if (plan.empty() && plan.requeue_after) world.now() += *plan.requeue_after;
    if (ended && pods == world.pods() && plan_of(world.seen()).empty()) return faults_of(world.seen());
  }
  return {"does not come to rest: " + plan_of(world.seen()).reason + "\n" + world.describe()};
}

/// A world in the middle of its life, whose children are what an operator made of it.
SetWorld lived_in(LeaderWorkerSetGenerator& generator) {
  SetWorld world = generator.world();
  const int rounds = generator.below(12);
  for (int round = 0; round < rounds; ++round) {
    carry_on(plan_of(world.seen()), world);
    if (generator.chance(30)) {
      world.calm_down();
    } else {
      generator.go_on(world);
    }
    if (generator.chance(20)) generator.edit(world);
    if (generator.chance(15)) generator.distort(world);
  }
  return world;
}

/// What two worlds that came to rest are compared by.
Json end_of(const SetWorld& world) {
  Json out = Json::object();
  for (const auto& [name, pod] : world.pods()) out[name] = string_at(pod, {"metadata", "labels", kRevisionKey});
  for (const auto& [name, set] : world.stateful_sets()) out["set " + name] = set["spec"];
  // Which conditions there are that are not true tells of the way there.
  Json status = world.set()["status"];
  Json conditions = Json::array();
  for (const Json& condition : status["conditions"]) {
    if (condition["status"] == "True") conditions.push_back(condition["type"]);
  }
  status["conditions"] = std::move(conditions);
  out["status"] = std::move(status);
  return out;
}

TEST_F(LeaderWorkerSetLaws, AreHeldAgainstSetsThatAreCarriedOut) {
  int refused = 0;
  int empty = 0;
  int outdated = 0;
  int unready = 0;
  for_many_worlds([&](LeaderWorkerSetGenerator& generator) {
    const SetWorld world = lived_in(generator);
    const Json& status = world.set().value("status", Json::object());
    const auto replicas = int_at(world.set(), {"spec", "replicas"});
    refused += find_condition(array_at(status, {"conditions"}), kAccepted) != nullptr ? 1 : 0;
    empty += world.pods().empty() ? 1 : 0;
    outdated += int_at(status, {"updatedReplicas"}) < replicas ? 1 : 0;
    unready += int_at(status, {"readyReplicas"}) < replicas ? 1 : 0;
  });
  EXPECT_LT(refused, kWorlds / 10);
  EXPECT_LT(empty, kWorlds / 2);
  for (const int some : {outdated, unready}) EXPECT_GT(some, kWorlds / 10);
}

TEST_F(LeaderWorkerSetLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    const SetWorld world = lived_in(generator);
    LeaderWorkerSetObserved again = world.seen();
    again.set = Object(Json::parse(again.set.json().dump()));
    generator.shuffle(again.pods);
    generator.shuffle(again.stateful_sets);
    generator.shuffle(again.revisions);
    generator.shuffle(again.services);
    ASSERT_EQ(to_json(plan_of(world.seen())).dump(), to_json(plan_of(again)).dump());
  });
}

TEST_F(LeaderWorkerSetLaws, EveryWorldComesToRestAndThenNothingIsWritten) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    SetWorld world = lived_in(generator);
    ASSERT_THAT(settle(world), IsEmpty());
    for (int round = 0; round < 3; ++round) {
      const Plan plan = plan_of(world.seen());
      ASSERT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.now() += std::chrono::seconds(1);
    }
  });
}

TEST_F(LeaderWorkerSetLaws, NoPlanDoesWhatItMustNot) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    SetWorld world = lived_in(generator);
    for (int round = 0; round < 10; ++round) {
      const LeaderWorkerSetObserved seen = world.seen();
      Plan plan = plan_of(seen);
      ASSERT_THAT(breaches(seen, plan), IsEmpty()) << plan.reason << "\n" << world.describe();
      const bool whole = generator.chance(70);
      for (runtime::Stage& stage : plan.stages) {
        generator.shuffle(stage.actions);
        if (!whole)
          stage.actions.resize(static_cast<std::size_t>(generator.below(static_cast<int>(stage.actions.size()) + 1)));
      }
      if (!whole) plan.status.reset();
      carry_on(plan, world);
      if (generator.chance(25)) generator.edit(world);
      if (generator.chance(25)) generator.distort(world);
      if (generator.chance(80)) generator.go_on(world);
    }
    ASSERT_THAT(settle(world), IsEmpty());
  });
}

TEST_F(LeaderWorkerSetLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    SetWorld whole = lived_in(generator);
    SetWorld cut = whole;
    const Plan plan = plan_of(cut.seen());
    for (const runtime::Stage& stage : plan.stages) {
      const int done = generator.below(static_cast<int>(stage.actions.size()) + 1);
      for (int i = 0; i < done; ++i) cut.perform(stage.actions[static_cast<std::size_t>(i)]);
      if (done < static_cast<int>(stage.actions.size())) break;
    }
    ASSERT_THAT(settle(cut), IsEmpty());
    ASSERT_THAT(settle(whole), IsEmpty());
    const Json difference = Json::diff(end_of(whole), end_of(cut));
    ASSERT_TRUE(difference.empty()) << difference.dump(1) << "\n" << plan.reason << "\n" << whole.describe();
  });
}

TEST_F(LeaderWorkerSetLaws, AFailureToWriteTheStatusIsNoNews) {
  for_many_worlds([](LeaderWorkerSetGenerator& generator) {
    LeaderWorkerSetObserved seen = lived_in(generator).seen();
    seen.last_failure.reset();
    const std::string plan = to_json(plan_of(seen)).dump();
    seen.last_failure = runtime::Failure{"FailedUpdateStatus", "it was lost"};
    ASSERT_EQ(to_json(plan_of(seen)).dump(), plan);
  });
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
