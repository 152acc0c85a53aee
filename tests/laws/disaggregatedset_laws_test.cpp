// The four laws for DisaggregatedSets, over generated worlds: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controllers/disaggregatedset/disaggregatedset_plan.h"
#include "controllers/disaggregatedset/disaggregatedset_state.h"
#include "controllers/disaggregatedset/scalers.h"
#include "controllers/plan/conditions.h"
#include "tests/laws/disaggregatedset_generator.h"
#include "tests/laws/laws.h"
#include "tests/laws/refusals.h"

namespace tpuslice::disaggregatedset {
namespace {

using laws::actions_of;
using leaderworkerset::kLeaderWorkerSets;
using plan::Action;
using plan::ActionKind;
using plan::Plan;
using testing::IsEmpty;

// A rollout of five replicas, one after the other, after another rollout.
constexpr int kMaxRounds = 80;

class DisaggregatedSetLaws : public laws::Laws<Generator, 300, 10'000> {};

Plan plan_of(const World& world) {
  ++DisaggregatedSetLaws::seen();
  return world.plan();
}

/// Reconciles until nothing is written any more; the number of plans.
int settle(World& world) {
  const int plans = world.settle(kMaxRounds);
  DisaggregatedSetLaws::seen() += plans;
  return plans;
}

/// The services of a settled world, without uids, times and versions.
Json services_of(const World& world) {
  Json out = Json::object();
  for (const auto& [name, object] : world.services()) {
    out[name] = {{"labels", object["metadata"]["labels"]}, {"spec", object["spec"]}};
  }
  return out;
}

/// Differences of a settled world from its spec.
std::vector<std::string> differences(const World& world) {
  std::vector<std::string> out;
  const DisaggregatedSetObserved seen = world.observed();
  const DisaggregatedSetState state(seen);
  const ScalerDecisions scalers = decide_scalers(state);
  std::set<std::string> expected;
  for (const RoleSpec& role : state.spec.roles) {
    for (int slice = 0; slice < state.spec.slices; ++slice) {
      const std::string name = world.name_of(role.name, slice);
      expected.insert(name);
      const auto found = world.sets().find(name);
      if (found == world.sets().end()) {
        out.push_back("missing: " + name);
      } else if (int_at(found->second, {"spec", "replicas"}) != desired_replicas(role, scalers)) {
        out.push_back("other replicas: " + name);
      }
    }
    if (role.external != world.scalers().contains(scaler_name("llm", role.name))) out.push_back("scaler: " + role.name);
  }
  for (const auto& [name, set] : world.sets()) {
    if (!expected.contains(name)) out.push_back("left: " + name);
  }
  const bool serves = std::ranges::all_of(
      state.spec.roles, [&](const RoleSpec& role) { return desired_replicas(role, scalers).value_or(0) > 0; });
  for (const std::string& name : expected) {
    if (serves && !world.services().contains(service_name(name))) out.push_back("no service: " + name);
  }
  if (serves && world.services().size() != expected.size()) out.emplace_back("services are left");
  if (world.condition(kAvailable) != "True: AllRolesReady")
    out.push_back("Available is " + world.condition(kAvailable));
  if (world.condition(plan::kChildrenReady) != "True: ChildrenReady") out.emplace_back("ChildrenReady");
  return out;
}

/// Replicas of the old revisions, by "<slice>/<role>".
std::map<std::string, std::int64_t> old_replicas(const World& world) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, set] : world.sets()) {
    if (string_at(set, {"metadata", "ownerReferences", "0", "uid"}) != world.object().uid()) continue;
    const std::string slice = string_at(set, {"metadata", "labels", kSlice});
    const std::string role = string_at(set, {"metadata", "labels", kRole});
    const std::string revision = string_at(set, {"metadata", "labels", kRevision});
    if (revision != world.revision()) out[slice + "/" + role] += int_at(set, {"spec", "replicas"});
  }
  return out;
}

/// Writes that have no precondition, that touch what others own, or that delete what serves.
std::vector<std::string> wrong_writes(const World& world, const Plan& plan) {
  std::vector<std::string> out;
  const std::string owner = world.object().uid();
  const std::int64_t slices = int_at(world.set(), {"spec", "slices"}, 1);
  for (const Action& action : actions_of(plan)) {
    const auto& objects = world.objects(action.type);
    const auto live = objects.find(action.key.name);
    if (action.kind == ActionKind::kCreate) {
      if (live != objects.end()) out.push_back("exists: " + action.key.name);
      continue;
    }
    if (action.preconditions.uid.empty()) out.push_back("no uid as precondition: " + action.key.name);
    if (live == objects.end()) continue;
    if (string_at(live->second, {"metadata", "ownerReferences", "0", "uid"}) != owner) {
      out.push_back("of another owner: " + action.key.name);
    }
    if (action.type != kLeaderWorkerSets || action.kind != ActionKind::kDelete) continue;
    const std::string slice = string_at(live->second, {"metadata", "labels", kSlice});
    if (std::stoi(slice) >= slices) continue;
    if (int_at(live->second, {"spec", "replicas"}) > 0) out.push_back("has replicas: " + action.key.name);
    if (string_at(live->second, {"metadata", "labels", kRevision}) == world.revision()) {
      out.push_back("is of the new revision: " + action.key.name);
    }
  }
  return out;
}

/// An undisturbed plan does not raise the replicas of old revisions, and does not lower them while new ones are not
/// ready.
std::vector<std::string> wrong_steps(const World& before, const World& after) {
  std::vector<std::string> out;
  const std::map<std::string, std::int64_t> old_before = old_replicas(before);
  for (const auto& [key, replicas] : old_replicas(after)) {
    const auto found = old_before.find(key);
    if (found == old_before.end() || replicas > found->second) out.push_back("old replicas were added: " + key);
    if (found == old_before.end() || replicas >= found->second) continue;
    const std::string slice = key.substr(0, key.find('/'));
    for (const Json& role : before.set()["spec"]["roles"]) {
      const auto set = before.sets().find(before.name_of(string_at(role, {"name"}), std::stoi(slice)));
      if (set == before.sets().end()) {
        out.push_back("no new set for " + key);
      } else if (int_at(set->second, {"spec", "replicas"}) != int_at(set->second, {"status", "readyReplicas"})) {
        out.push_back("new replicas are not ready for " + key);
      }
    }
  }
  return out;
}

TEST_F(DisaggregatedSetLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 4; ++round) {
      DisaggregatedSetObserved reversed = world.observed();
      reversed.set = Object(Json::parse(reversed.set.json().dump()));
      std::ranges::reverse(reversed.leader_worker_sets);
      std::ranges::reverse(reversed.scalers);
      std::ranges::reverse(reversed.services);
      const Plan plan = plan_of(world);
      ASSERT_EQ(to_json(plan).dump(), to_json(plan_disaggregatedset(reversed)).dump());
      world.carry_out(plan);
      world.advance();
    }
  });
}

TEST_F(DisaggregatedSetLaws, EveryWorldSettlesAndThenNothingIsWritten) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty()) << picture(world);
    const std::size_t writes = world.writes();
    for (int round = 0; round < 3; ++round) {
      const Plan plan = plan_of(world);
      EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
    }
    EXPECT_EQ(world.writes(), writes);
  });
}

TEST_F(DisaggregatedSetLaws, WhatServesIsNotTakenAwayBeforeItsSuccessorIsReady) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 20; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << to_json(plan).dump(2);
      const World before = world;
      world.carry_out(plan, generator.chance(80) ? SIZE_MAX : laws::cut(plan, generator));
      ASSERT_THAT(wrong_steps(before, world), IsEmpty()) << plan.reason;
      if (generator.chance(15)) generator.edit(world);
      if (generator.chance(15)) generator.disturb(world);
      if (generator.chance(70)) generator.advance(world);
    }
    generator.heal(world);
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty()) << picture(world);
  });
}

TEST_F(DisaggregatedSetLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](Generator& generator) {
    World whole = generator.world();
    generator.heal(whole);
    for (int round = generator.below(8); round > 0; --round) {
      whole.carry_out(plan_of(whole));
      whole.advance();
    }
    const Plan plan = plan_of(whole);
    const std::size_t writes = actions_of(plan).size();
    World all = whole;
    all.carry_out(plan);
    ASSERT_LE(settle(all), kMaxRounds) << plan_of(all).reason;
    EXPECT_THAT(differences(all), IsEmpty()) << picture(all);
    // After each of its writes.
    for (std::size_t limit = 0; limit <= std::min<std::size_t>(writes, 8); ++limit) {
      World cut = whole;
      cut.carry_out(plan, limit);
      ASSERT_LE(settle(cut), kMaxRounds) << plan_of(cut).reason;
      EXPECT_THAT(differences(cut), IsEmpty()) << picture(cut);
      EXPECT_EQ(services_of(cut), services_of(all));
    }
  });
}

TEST_F(DisaggregatedSetLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    refused += laws::reconcile_refused<World>(world, generator, {.violations = wrong_writes});
    generator.heal(world);
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty()) << picture(world);
  });
  EXPECT_GT(refused, world_count() / 10);
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
