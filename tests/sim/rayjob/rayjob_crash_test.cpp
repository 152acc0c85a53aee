// The operator of a RayJob is killed after, or just before, its n-th write, for every n; the next one completes the
// work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/sim/rayjob/rayjob_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using namespace std::chrono_literals;

/// What a user does, and the expected result.
struct JobStep {
  std::function<void(RayJobWorld&, const Json& mode)> act;
  std::function<bool(RayJobWorld&)> done;
};

struct JobScenario {
  const char* name;
  std::vector<std::string> ends = {};  ///< Of the Ray jobs of the attempts.
  std::vector<JobStep> steps;
  std::size_t settled = 0;  ///< Steps before the operator with the fault starts.
  std::size_t attempts = 1;
  int stops = 0;  ///< Requests to stop a Ray job, at least.
};

void PrintTo(const JobScenario& scenario, std::ostream* out) { *out << scenario.name; }

JobStep create(Json spec) {
  return {[spec = std::move(spec)](RayJobWorld& world, const Json& mode) {
            Json patch = spec;
            patch.update(mode);
            world.apply_job(patch);
          },
          [](RayJobWorld& world) { return world.state() == "Running RUNNING"; }};
}

JobStep suspend(bool suspended, std::string state) {
  return {[suspended](RayJobWorld& world, const Json&) { world.suspend(suspended); },
          [state = std::move(state)](RayJobWorld& world) { return world.state() == state; }};
}

JobStep wait(std::function<bool(RayJobWorld&)> done) {
  return {[](RayJobWorld&, const Json&) {}, std::move(done)};
}

bool is_complete(RayJobWorld& world) { return world.state() == "Complete SUCCEEDED"; }
bool is_gone(RayJobWorld& world) {
  return world.job().is_null() && world.count("pods") == 0 && world.count("services") == 0;
}

const JobScenario kSucceeds{
    .name = "Succeeds",
    .ends = {"SUCCEEDED"},
    .steps = {create({{"shutdownAfterJobFinishes", true}, {"ttlSecondsAfterFinished", 5}}), wait(is_complete),
              wait([](RayJobWorld& world) { return world.count(RayJobWorld::kClusters) == 0; })}};
const JobScenario kRetries{.name = "FailsAndRetries",
                           .ends = {"FAILED", "SUCCEEDED"},
                           .steps = {create({{"backoffLimit", 1}}), wait(is_complete)},
                           .settled = 1,
                           .attempts = 2};
const JobScenario kSuspends{.name = "SuspendsAndResumes",
                            .steps = {create({{"shutdownAfterJobFinishes", true}}), suspend(true, "Suspended"),
                                      suspend(false, "Running RUNNING")},
                            .settled = 1,
                            .attempts = 2};
const JobScenario kDeletes{
    .name = "Deletes",
    .steps = {create(Json::object()), {[](RayJobWorld& world, const Json&) { world.remove_job(); }, is_gone}},
    .settled = 1,
    .stops = 1};
const JobScenario kDeletesItself{.name = "DeletesItself",
                                 .ends = {"SUCCEEDED"},
                                 .steps = {create(Json::parse(R"({"deletionStrategy": {"deletionRules": [
              {"policy": "DeleteWorkers", "condition": {"jobStatus": "SUCCEEDED"}},
              {"policy": "DeleteSelf", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 10}}]}})")),
                                           wait(is_complete), wait(is_gone)},
                                 .settled = 1};

struct JobOutcome {
  std::string digest;
  std::vector<std::string> violations;
  std::int64_t writes = 0;
  bool done = true;
  std::map<std::string, int> submissions;
  std::size_t jobs = 0;
  std::size_t clusters = 0;
  int stops = 0;
};

/// `die_at` 0: no fault.
JobOutcome play_job(const JobScenario& scenario, const std::string& mode, std::int64_t die_at, bool before_server) {
  RayJobWorld world;
  OperatorOptions faulty = world.operator_options();
  faulty.faults.die_at_write = die_at;
  faulty.faults.die_before_server = before_server;
  world.ends = scenario.ends;
  JobOutcome outcome;
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    const JobStep& step = scenario.steps[i];
    if (i == 0 || i == scenario.settled) {
      world.kill_operators();
      world.start_operator(i == scenario.settled ? faulty : world.operator_options());
    }
    step.act(world, {{"submissionMode", mode}});
    outcome.done = outcome.done && world.run_until([&] { return step.done(world); }, 5min);
  }
  // Garbage collection and the last status need a while.
  world.run_for(1min);
  if (die_at == 0) outcome.writes = world.operators.front()->faults().writes();
  outcome.digest = world.digest();
  outcome.violations = world.violations;
  outcome.submissions = world.submissions;
  outcome.jobs = world.jobs.size();
  outcome.clusters = world.clusters.size();
  outcome.stops = world.stops;
  return outcome;
}

class JobCrash : public ::testing::TestWithParam<std::tuple<JobScenario, const char*, bool>> {};

TEST_P(JobCrash, AtAnyWriteReachesTheSameStateWithOneRayJobForEachAttempt) {
  const auto& [scenario, mode, before_server] = GetParam();
  const JobOutcome whole = play_job(scenario, mode, 0, before_server);
  ASSERT_TRUE(whole.done) << whole.digest;
  ASSERT_THAT(whole.violations, IsEmpty());
  for (std::int64_t n = 0; n <= whole.writes; ++n) {
    SCOPED_TRACE(fmt::format("killed at write {} of {}", n, whole.writes));
    const JobOutcome cut = n == 0 ? whole : play_job(scenario, mode, n, before_server);
    ASSERT_TRUE(cut.done) << cut.digest;
    ASSERT_EQ(cut.digest, whole.digest);
    ASSERT_THAT(cut.violations, IsEmpty());
    ASSERT_THAT(cut.submissions, AllOf(SizeIs(scenario.attempts), Each(Pair(Not(""), 1))));
    ASSERT_EQ(cut.clusters, scenario.attempts);
    ASSERT_EQ(cut.jobs, mode == std::string_view("HTTPMode") ? 0U : scenario.attempts);
    EXPECT_GE(cut.stops, scenario.stops);
  }
}

INSTANTIATE_TEST_SUITE_P(All, JobCrash,
                         ::testing::Combine(::testing::Values(kSucceeds, kRetries, kSuspends, kDeletes, kDeletesItself),
                                            ::testing::Values("K8sJobMode", "HTTPMode"), ::testing::Bool()),
                         [](const auto& test) {
                           return fmt::format("{}{}{}", std::get<0>(test.param).name, std::get<1>(test.param),
                                              std::get<2>(test.param) ? "BeforeServer" : "AfterServer");
                         });

TEST(JobCrashes, AreTestedAtEnoughWrites) {
  const auto writes = [](const JobScenario& scenario) { return play_job(scenario, "K8sJobMode", 0, false).writes; };
  EXPECT_GE(writes(kSucceeds), 15) << "finalizer, RayCluster, pods, services, submitter, statuses, events";
  EXPECT_GE(writes(kRetries), 20) << "two deletes, and a second attempt";
  EXPECT_GE(writes(kSuspends), 20);
  EXPECT_GE(writes(kDeletes), 1) << "the finalizer";
  EXPECT_GE(writes(kDeletesItself), 5) << "statuses, events, the workers, itself";
}

TEST(IdleRayJobs, WriteNothingForAnHour) {
  for (const char* mode : {"K8sJobMode", "HTTPMode"}) {
    RayJobWorld world;
    OperatorHarness& harness = world.start_operator(world.operator_options());
    world.apply_job({{"submissionMode", mode}});
    ASSERT_TRUE(world.run_until([&] { return world.state() == "Running RUNNING"; }));
    world.run_for(1min);
    const std::int64_t writes = harness.faults().writes();
    world.run_for(1h);
    EXPECT_EQ(harness.faults().writes(), writes) << mode;
  }
}

}  // namespace
}  // namespace tpuslice::testing
