// The four laws for RayCronJobs, over generated histories: deterministic, fixpoint, safety (never two RayJobs for one
// scheduled time), crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycronjob/rules/validator.h"
#include "tests/laws/laws.h"
#include "tests/laws/refusals.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycronjob/world.h"

namespace tpuslice::raycronjob {
namespace {

using plan::Action;
using plan::ActionKind;
using plan::Plan;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr int kMaxRounds = 6;

/// A world that remembers the RayJobs that were created, also those that are deleted.
struct World {
  RayCronJobWorld cron;
  std::map<std::string, int> created = {};    ///< By scheduled time.
  std::map<std::string, int> of_minute = {};  ///< By name.

  void carry_out(const Plan& plan, std::size_t limit = SIZE_MAX) {
    const RayCronJobWorld::Objects before = cron.jobs();
    cron.carry_out(plan, limit);
    for (const auto& [name, job] : cron.jobs()) {
      if (before.contains(name)) continue;
      ++created[string_at(job, {"metadata", "annotations", kScheduledTimestamp})];
      ++of_minute[name];
    }
  }
  [[nodiscard]] bool is_valid() const { return validate_raycronjob(cron.object().json(), nullptr).empty(); }
  [[nodiscard]] bool is_suspended() const { return RayCronJobSpec::read(cron.object()).suspend; }
  [[nodiscard]] std::optional<Timestamp> last() const { return last_schedule_time(cron.object()); }
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : dice_(seed) {}

  /// A RayCronJob somewhere in its life. No time passes between plans, unless a test lets it pass.
  World world() {
    World world{RayCronJobWorld(one_of(kSchedules))};
    world.cron.tick = Duration::zero();
    if (dice_.chance(50)) world.cron.set_spec("timeZone", one_of(kZones));
    for (int round = dice_.below(5); round > 0; --round) {
      const Plan plan = world.cron.plan();
      world.carry_out(plan, dice_.chance(60) ? SIZE_MAX : laws::cut(plan, dice_));
      disturb(world);
    }
    return world;
  }

  /// Time passes, a clock is set, a user or another controller changes something.
  void disturb(World& world) {
    RayCronJobWorld& cron = world.cron;
    const Duration some = std::chrono::seconds(dice_.below(3600));
    cron.pass(dice_.chance(20) ? Duration(some * 200) : some);
    if (dice_.chance(5)) cron.pass(-some);
    if (dice_.chance(10)) cron.set_spec("suspend", dice_.chance(50));
    if (dice_.chance(10)) cron.set_spec("schedule", one_of(kSchedules));
    if (dice_.chance(5)) cron.set_spec("timeZone", one_of(kZones));
    if (dice_.chance(10)) forget_recorded(world);
    if (dice_.chance(5)) erase_foreign(world);
    if (!dice_.chance(10)) return;
    const RayCronJobObserved seen = cron.observed();
    const RayCronJobSpec& spec = seen.cron_job.spec();
    if (const auto next = find_runs(spec, world.last(), cron.now(), {}).next) {
      const std::string name = run_name(spec, *next);
      if (!cron.jobs().contains(name)) cron.add_foreign_job(name);
    }
  }

  /// RayJobs of other owners are deleted.
  static void erase_foreign(World& world) {
    std::erase_if(world.cron.jobs(),
                  [](const auto& job) { return !job.second["metadata"].contains("ownerReferences"); });
  }

  [[nodiscard]] laws::Dice& dice() { return dice_; }

 private:
  static inline const std::vector<std::string> kSchedules = {
      "* * * * *", "*/7 * * * *", "30 2 * * *", "@hourly", "@every 90s", "0 0 1 * *", "15 */3 * * 1-5", "0 0 30 2 *"};
  static inline const std::vector<std::string> kZones = {"UTC", "Europe/Berlin", "Asia/Kolkata", "Nowhere"};

  const std::string& one_of(const std::vector<std::string>& values) {
    return values[static_cast<std::size_t>(dice_.below(static_cast<int>(values.size())))];
  }
  /// RayJobs whose run is recorded are deleted, as by their deletion rules.
  static void forget_recorded(World& world) {
    const std::optional<Timestamp> last = world.last();
    std::erase_if(world.cron.jobs(), [&](const auto& job) {
      const auto time = parse_rfc3339(string_at(job.second, {"metadata", "annotations", kScheduledTimestamp}));
      return time && last && *time <= *last;
    });
  }

  laws::Dice dice_;
};

class RayCronJobLaws : public laws::Laws<Generator, 500, 10'000> {};

Plan counted_plan(const World& world) {
  ++RayCronJobLaws::seen();
  return world.cron.plan();
}

/// Plans until nothing is written.
void settle(World& world) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const Plan plan = counted_plan(world);
    if (plan.empty()) return;
    world.carry_out(plan);
  }
  ADD_FAILURE() << "does not settle: " << to_json(world.cron.plan()).dump(2);
}

/// What a settled world has, without uids, versions and times of transitions.
Json summary_of(const World& world) {
  Json out = Json::object();
  for (const auto& [name, job] : world.cron.jobs()) {
    Json copy = job;
    copy["metadata"].erase("uid");
    copy["metadata"].erase("resourceVersion");
    out["jobs"][name] = std::move(copy);
  }
  out["status"] = world.cron.status();
  for (Json& condition : out["status"]["conditions"]) condition.erase("lastTransitionTime");
  return out;
}

/// Differences of a settled world from its spec.
std::vector<std::string> differences(const World& world) {
  std::vector<std::string> out;
  const RayCronJobObserved seen = world.cron.observed();
  const Json status = world.cron.status();
  const Json& conditions = array_at(status, {"conditions"});
  const bool runs = world.is_valid() && !world.is_suspended();
  const std::optional<Timestamp> due = find_runs(seen.cron_job.spec(), world.last(), seen.now, {}).due;
  const bool conflict = seen.run != nullptr && !seen.run->controller;
  if (runs && due && !conflict) out.push_back("not started: " + format_rfc3339(*due));
  if (is_condition_true(conditions, kScheduled) != (runs && !conflict)) out.emplace_back("wrong condition Scheduled");
  if (is_condition_true(conditions, plan::kAccepted) != world.is_valid()) out.emplace_back("wrong condition Accepted");
  return out;
}

std::vector<std::string> repeated(const World& world) {
  std::vector<std::string> out;
  for (const auto* counts : {&world.created, &world.of_minute}) {
    for (const auto& [name, count] : *counts) {
      if (count > 1) out.push_back(fmt::format("{} RayJobs: {}", count, name));
    }
  }
  return out;
}

/// What is wrong with a plan: anything but one RayJob of a run that is due.
std::vector<std::string> wrong_writes(const World& world, const Plan& plan) {
  std::vector<std::string> out;
  const std::vector<Action> actions = laws::actions_of(plan);
  if (actions.size() > 1) out.emplace_back("more than one RayJob");
  for (const Action& action : actions) {
    if (action.kind != ActionKind::kCreate || action.type != rayjob::kRayJobs) {
      out.push_back("unexpected: " + plan::write_of(action));
      continue;
    }
    if (!world.is_valid() || world.is_suspended()) out.emplace_back("creates a RayJob");
    if (world.cron.jobs().contains(action.key.name)) out.push_back("exists: " + action.key.name);
    const Json job = action.body.make().value();
    const auto time = parse_rfc3339(string_at(job, {"metadata", "annotations", kScheduledTimestamp}));
    if (!time || *time > world.cron.now()) out.push_back("not due: " + action.key.name);
    if (time && world.last() && *time <= *world.last()) out.push_back("recorded already: " + action.key.name);
  }
  if (plan.status) {
    const auto next = parse_rfc3339(string_at(plan.status->status, {"lastScheduleTime"}));
    if (world.last() && (!next || *next < *world.last())) out.emplace_back("lastScheduleTime goes back");
  }
  return out;
}

TEST_F(RayCronJobLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 3; ++round) {
      RayCronJobObserved again = world.cron.observed();
      again.cron_job = Object(Json::parse(again.cron_job.json().dump()));
      const Plan plan = counted_plan(world);
      ASSERT_EQ(to_json(plan).dump(), to_json(plan_raycronjob(again, {})).dump());
      world.carry_out(plan);
      generator.disturb(world);
    }
  });
}

TEST_F(RayCronJobLaws, EveryWorldSettlesAndWritesNothingUntilTheNextRun) {
  int waits = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    const bool conflict = world.cron.observed().run != nullptr;
    const Plan idle = counted_plan(world);
    EXPECT_EQ(idle.requeue_after.has_value(), world.is_valid() && !world.is_suspended());
    if (!idle.requeue_after || conflict) return;
    ++waits;
    // Just before the requeue nothing is to be done.
    world.cron.pass(*idle.requeue_after - 1ns);
    EXPECT_TRUE(counted_plan(world).empty()) << to_json(counted_plan(world)).dump(2);
  });
  EXPECT_GT(waits, world_count() / 4);
}

TEST_F(RayCronJobLaws, NoScheduledTimeHasTwoRayJobs) {
  std::size_t created = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 20; ++round) {
      const Plan plan = counted_plan(world);
      ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << plan.reason;
      world.carry_out(plan, laws::cut(plan, generator.dice()) + (generator.dice().chance(50) ? 1 : 0));
      ASSERT_THAT(repeated(world), IsEmpty());
      if (generator.dice().chance(70)) generator.disturb(world);
    }
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    EXPECT_THAT(repeated(world), IsEmpty());
    created += world.created.size();
  });
  EXPECT_GT(created, static_cast<std::size_t>(world_count()));
}

TEST_F(RayCronJobLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](Generator& generator) {
    World whole = generator.world();
    for (int round = 0; round < 6; ++round) {
      World cut = whole;
      const Plan plan = counted_plan(whole);
      whole.carry_out(plan);
      cut.carry_out(plan, laws::cut(plan, generator.dice()));
      settle(cut);
      settle(whole);
      ASSERT_EQ(summary_of(cut), summary_of(whole));
      ASSERT_EQ(cut.created, whole.created);
      ASSERT_THAT(differences(cut), IsEmpty());
      generator.disturb(whole);
    }
  });
}

TEST_F(RayCronJobLaws, RefusedRayJobsAreCreatedInTheEnd) {
  int refused = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    const laws::RefusedWrites<RayCronJobWorld> kind{
        .violations = [&](RayCronJobWorld& cron, const Plan& plan) { return wrong_writes(World{cron}, plan); },
        .advance = [](RayCronJobWorld& cron) { cron.pass(40s); }};
    refused += laws::reconcile_refused<RayCronJobWorld>(world.cron, generator.dice(), kind);
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
  });
  EXPECT_GT(refused, world_count() / 10);
}

}  // namespace
}  // namespace tpuslice::raycronjob
