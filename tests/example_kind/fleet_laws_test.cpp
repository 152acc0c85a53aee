// The four laws for Fleets, over generated worlds: deterministic, fixpoint, safety, crash anywhere.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/example_kind/fleet_world.h"
#include "tests/laws/laws.h"
#include "tests/laws/refusals.h"

namespace tpuslice::example {
namespace {

using laws::actions_of;
using plan::Action;
using plan::ActionKind;
using plan::Plan;
using testing::IsEmpty;

constexpr int kMaxRounds = 20;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : dice_(seed) {}

  /// A Fleet somewhere in its life.
  FleetWorld world() {
    static const std::vector<std::string> kTopologies = {"", "2x2", "2x4", "4x4"};
    FleetWorld world({.ships = dice_.below(4), .topology = kTopologies[static_cast<std::size_t>(dice_.below(4))]});
    for (int round = dice_.below(4); round > 0; --round) {
      const Plan plan = world.plan();
      world.carry_out(plan, dice_.chance(60) ? SIZE_MAX : laws::cut(plan, dice_));
      if (dice_.chance(70)) world.advance();
      if (dice_.chance(30)) disturb(world);
    }
    return world;
  }

  /// A user or a node changes something.
  void disturb(FleetWorld& world) {
    if (dice_.chance(30)) world.set_spec("ships", dice_.below(4));
    if (dice_.chance(20)) world.set_spec("flag", dice_.chance(50) ? "white" : "blue");
    if (dice_.chance(20)) world.objects(kConfigMaps).clear();
    if (dice_.chance(20)) world.objects(kServices).clear();
    if (world.pods().empty()) return;
    auto pod = world.pods().begin();
    std::advance(pod, dice_.below(static_cast<int>(world.pods().size())));
    switch (dice_.below(4)) {
      case 0:
        pod->second["status"] = {{"phase", dice_.chance(50) ? "Failed" : "Succeeded"}};
        break;
      case 1:
        pod->second["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
        break;
      case 2:
        world.pods().erase(pod);
        break;
      default:
        break;
    }
  }

  [[nodiscard]] laws::Dice& dice() { return dice_; }

 private:
  laws::Dice dice_;
};

class FleetLaws : public laws::Laws<Generator, 300, 4'000> {};

Plan counted_plan(const FleetObserved& seen) {
  ++FleetLaws::seen();
  return plan_of(seen);
}

/// What a settled world has, without uids and versions.
Json summary_of(const FleetWorld& world) {
  Json out = Json::object();
  for (const ResourceType& type : {kPods, kServices, kConfigMaps}) {
    for (const auto& [name, object] : world.objects(type)) {
      Json copy = object;
      copy["metadata"].erase("uid");
      copy["metadata"].erase("resourceVersion");
      out[std::string(type.kind)][name] = std::move(copy);
    }
  }
  out["ships"] = world.status()["ships"];
  out["readyShips"] = world.status()["readyShips"];
  return out;
}

/// Differences of a settled world from its spec.
std::vector<std::string> differences(const FleetWorld& world) {
  std::vector<std::string> out;
  const FleetObserved seen = world.observed();
  const FleetState state(seen);
  for (const PodPtr& pod : state.surplus) out.push_back("surplus: " + pod->key.name);
  for (std::size_t i = 0; i < state.ships.size(); ++i) {
    if (!state.ships[i].ready()) out.push_back(fmt::format("ship {} is not ready", i));
  }
  if (seen.service == nullptr) out.emplace_back("no service");
  if (seen.flag == nullptr || seen.flag->flag != state.spec.flag) out.emplace_back("another flag");
  return out;
}

/// Writes that have no precondition, change nothing, or leave a part of a ship.
std::vector<std::string> wrong_writes(const FleetWorld& world, const Plan& plan) {
  std::vector<std::string> out;
  std::set<std::string> deleted;
  std::set<std::string> ships;
  for (const Action& action : actions_of(plan)) {
    if (action.kind != ActionKind::kCreate && action.preconditions.uid.empty()) {
      out.push_back("no uid as precondition: " + action.key.name);
    }
    if (action.type != kPods) continue;
    const auto live = world.pods().find(action.key.name);
    if (action.kind == ActionKind::kCreate) {
      if (live != world.pods().end()) out.push_back("exists: " + action.key.name);
      continue;
    }
    if (live == world.pods().end()) continue;
    if (live->second["metadata"].contains("deletionTimestamp")) out.push_back("deleted already: " + action.key.name);
    deleted.insert(action.key.name);
    ships.insert(string_at(live->second, {"metadata", "labels", kShip}));
  }
  for (const auto& [name, pod] : world.pods()) {
    const bool gone = deleted.contains(name) || pod["metadata"].contains("deletionTimestamp");
    if (!gone && ships.contains(string_at(pod, {"metadata", "labels", kShip}))) out.push_back("remains: " + name);
  }
  return out;
}

/// Live pods of a slice with one worker id; a gated pod does not count.
std::vector<std::string> duplicate_hosts(const FleetWorld& world) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& [name, pod] : world.pods()) {
    if (!array_at(pod, {"spec", "schedulingGates"}).empty()) continue;
    const std::string host = string_at(pod, {"metadata", "annotations", "tpuslice.dev/slice-host"});
    const std::string slice = string_at(pod, {"metadata", "labels", "tpuslice.dev/slice"});
    if (!slice.empty() && !seen.insert(slice + "/" + host).second) out.push_back(name);
  }
  return out;
}

void settle(FleetWorld& world) { FleetLaws::seen() += world.settle(kMaxRounds); }

TEST_F(FleetLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](Generator& generator) {
    FleetWorld world = generator.world();
    for (int round = 0; round < 3; ++round) {
      FleetObserved again = world.observed();
      again.fleet = Object(Json::parse(again.fleet.json().dump()));
      std::ranges::reverse(again.pods);
      const Plan plan = counted_plan(world.observed());
      ASSERT_EQ(to_json(plan).dump(), to_json(plan_of(again)).dump());
      world.carry_out(plan);
      world.advance();
    }
  });
}

TEST_F(FleetLaws, EveryWorldSettlesAndThenNothingIsWritten) {
  for_many_worlds([](Generator& generator) {
    FleetWorld world = generator.world();
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    const std::size_t writes = world.writes();
    for (int round = 0; round < 3; ++round) {
      const Plan plan = counted_plan(world.observed());
      EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
    }
    EXPECT_EQ(world.writes(), writes);
  });
}

TEST_F(FleetLaws, NoPlanLeavesAPartOfAShipOrTwoPodsForOneHost) {
  for_many_worlds([](Generator& generator) {
    FleetWorld world = generator.world();
    for (int round = 0; round < 8; ++round) {
      const Plan plan = counted_plan(world.observed());
      ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << plan.reason;
      world.carry_out(laws::shuffled(plan, generator.dice()), laws::cut(plan, generator.dice()));
      if (generator.dice().chance(20)) generator.disturb(world);
      if (generator.dice().chance(60)) world.advance();
      ASSERT_THAT(duplicate_hosts(world), IsEmpty());
    }
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
  });
}

TEST_F(FleetLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](Generator& generator) {
    FleetWorld whole = generator.world();
    FleetWorld cut = whole;
    const Plan plan = counted_plan(whole.observed());
    whole.carry_out(plan);
    cut.carry_out(plan, laws::cut(plan, generator.dice()));
    settle(cut);
    settle(whole);
    EXPECT_EQ(summary_of(cut), summary_of(whole));
    EXPECT_THAT(differences(cut), IsEmpty());
  });
}

TEST_F(FleetLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](Generator& generator) {
    FleetWorld world = generator.world();
    refused += laws::reconcile_refused<FleetWorld>(world, generator.dice(), {.violations = wrong_writes});
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    EXPECT_THAT(duplicate_hosts(world), IsEmpty());
  });
  EXPECT_GT(refused, world_count() / 10);
}

}  // namespace
}  // namespace tpuslice::example
