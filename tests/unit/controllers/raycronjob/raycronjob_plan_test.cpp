#include "controllers/raycronjob/raycronjob_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/raycronjob/decisions.h"
#include "controllers/raycronjob/render.h"
#include "controllers/raycronjob/rules/time_zones.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycronjob/world.h"

namespace tpuslice::raycronjob {
namespace {

using plan::HasEvent;
using plan::IsEmptyPlan;
using plan::Plan;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

Timestamp at(const std::string& text) { return parse_rfc3339(text).value(); }

RayCronJobWorld settled(const std::string& schedule = "*/10 * * * *") {
  RayCronJobWorld world(schedule);
  EXPECT_LE(world.settle(), 4);
  return world;
}

const Json* condition(const RayCronJobWorld& world, std::string_view type) {
  static Json conditions;
  conditions = array_at(world.status(), {"conditions"});
  return find_condition(conditions, type);
}

/// "True Scheduled: the next run is at ..."
std::string scheduled(const RayCronJobWorld& world) {
  const Json* found = condition(world, kScheduled);
  if (found == nullptr) return "none";
  return string_at(*found, {"status"}) + " " + string_at(*found, {"reason"}) + ": " + string_at(*found, {"message"});
}

std::string last_run(const RayCronJobWorld& world) { return string_at(world.status(), {"lastScheduleTime"}); }

std::vector<std::string> names(const RayCronJobWorld& world) {
  std::vector<std::string> out;
  for (const auto& [name, job] : world.jobs()) out.push_back(name);
  return out;
}

TEST(RayCronJobPlan, WaitsForTheFirstRun) {
  RayCronJobWorld world;
  const Plan plan = world.plan();
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_THAT(plan.requeue_after, Optional(Duration(minutes(10))));
  world.carry_out(plan);
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T08:10:00Z");
  EXPECT_EQ(last_run(world), "");
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(RayCronJobPlan, CreatesTheRayJobOfARunAndRecordsIt) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:10:00Z"));
  const Plan plan = world.plan();
  EXPECT_THAT(plan.reason, Eq("the run at 2027-01-15T08:10:00Z is due: creating RayJob default/nightly-30000010"));
  EXPECT_THAT(plan::writes_of(plan), ElementsAre("create RayJob nightly-30000010"));
  EXPECT_THAT(plan, HasEvent("CreatedRayJob"));
  EXPECT_THAT(plan, Not(HasEvent("MissedRuns")));
  EXPECT_THAT(plan.requeue_after, Optional(Duration(minutes(10))));
  world.carry_out(plan);
  EXPECT_EQ(last_run(world), "2027-01-15T08:10:00Z");
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T08:20:00Z");
  const Json& job = world.jobs().at("nightly-30000010");
  EXPECT_EQ(job["spec"], a_job_template());
  EXPECT_EQ(job["metadata"]["labels"], (Json{{"ray.io/cronjob-name", "nightly"}}));
  EXPECT_EQ(job["metadata"]["annotations"], (Json{{"ray.io/cronjob-scheduled-timestamp", "2027-01-15T08:10:00Z"}}));
  EXPECT_EQ(job["metadata"]["ownerReferences"][0]["uid"], "uid-of-nightly");
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(RayCronJobPlan, CountsTheRayJobsOfRuns) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:10:00Z"));
  EXPECT_THAT(plan::measurements_of(world.plan()), SizeIs(1));
  EXPECT_EQ(plan::measurements_of(world.plan())[0].name, kScheduledRayJobs.name);
}

TEST(RayCronJobPlan, ARunThatStartsLateKeepsItsTime) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:14:59Z"));
  const Plan plan = world.step();
  EXPECT_EQ(last_run(world), "2027-01-15T08:10:00Z");
  EXPECT_THAT(plan, Not(HasEvent("MissedRuns")));
  EXPECT_THAT(plan.requeue_after, Optional(Duration(minutes(5) + seconds(1))));
}

TEST(RayCronJobPlan, StartsOnlyTheLastOfTheRunsThatWereMissed) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-17T09:05:00Z"));
  const Plan plan = world.step();
  EXPECT_THAT(names(world), ElementsAre("nightly-30002940"));
  EXPECT_EQ(last_run(world), "2027-01-17T09:00:00Z");
  EXPECT_THAT(plan, HasEvent("MissedRuns"));
  const auto events = plan::events_of(plan);
  const auto missed = std::ranges::find(events, "MissedRuns", &plan::EventIntent::reason);
  ASSERT_NE(missed, events.end());
  EXPECT_EQ(missed->message,
            "the runs from 2027-01-15T08:10:00Z on were missed, only the last, at 2027-01-17T09:00:00Z, was started");
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(RayCronJobPlan, DoesNotCreateTheRayJobOfARunThatWasNotRecordedAgain) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:10:00Z"));
  EXPECT_FALSE(world.carry_out(world.plan(), 1)) << "the status is not written";
  ASSERT_THAT(names(world), SizeIs(1));
  EXPECT_EQ(last_run(world), "");
  const Plan plan = world.plan();
  EXPECT_THAT(plan::writes_of(plan), IsEmpty());
  EXPECT_THAT(plan.reason, HasSubstr("exists"));
  world.carry_out(plan);
  EXPECT_EQ(last_run(world), "2027-01-15T08:10:00Z");
  EXPECT_THAT(names(world), SizeIs(1));
}

TEST(RayCronJobPlan, ARayJobThatWasDeletedIsNotCreatedAgain) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:10:00Z"));
  world.step();
  world.jobs().clear();
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(RayCronJobPlan, RunsMayOverlap) {
  RayCronJobWorld world = settled();
  for (const char* time : {"2027-01-15T08:10:00Z", "2027-01-15T08:20:00Z", "2027-01-15T08:30:00Z"}) {
    world.set_now(at(time));
    world.step();
  }
  EXPECT_THAT(names(world), ElementsAre("nightly-30000010", "nightly-30000020", "nightly-30000030"));
}

TEST(RayCronJobPlan, DoesNothingBetweenTheRunsButLookAtTheClock) {
  RayCronJobWorld world = settled("0 0 1 * *");
  EXPECT_THAT(world.plan().requeue_after, Optional(Duration(kMaxWait)));
  for (int hour = 0; hour < 48; ++hour) {
    world.pass(hours(1));
    EXPECT_THAT(world.plan(), IsEmptyPlan());
  }
}

TEST(RayCronJobPlan, AClockThatIsSetBackRepeatsNoRun) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:40:00Z"));
  world.step();
  world.set_now(at("2027-01-15T08:05:00Z"));
  EXPECT_THAT(world.plan(), IsEmptyPlan());
  EXPECT_THAT(world.plan().requeue_after, Optional(Duration(minutes(45))));
  world.set_now(at("2027-01-15T08:50:00Z"));
  world.step();
  EXPECT_THAT(names(world), SizeIs(2));
}

TEST(RayCronJobPlan, SuspensionStartsNoRunsAndSaysSoOnce) {
  RayCronJobWorld world = settled();
  world.set_spec("suspend", true);
  EXPECT_THAT(world.plan(), HasEvent("SuspendedRayCronJob"));
  world.step();
  EXPECT_EQ(scheduled(world), "False Suspended: RayCronJob suspended, no new RayJobs will be created");
  world.set_now(at("2027-01-15T09:00:00Z"));
  EXPECT_THAT(world.plan(), IsEmptyPlan());
  EXPECT_THAT(world.plan().requeue_after, Eq(std::nullopt));
}

TEST(RayCronJobPlan, AResumedOneStartsTheLastRunThatItMissed) {
  RayCronJobWorld world = settled();
  world.set_spec("suspend", true);
  world.step();
  world.set_now(at("2027-01-15T09:05:00Z"));
  world.set_spec("suspend", false);
  world.step();
  EXPECT_THAT(names(world), ElementsAre("nightly-30000060"));
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T09:10:00Z");
}

TEST(RayCronJobPlan, FollowsTheTimeZone) {
  RayCronJobWorld world = settled("0 2 * * *");
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-16T02:00:00Z");
  world.set_spec("timeZone", "Asia/Taipei");
  world.step();
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T18:00:00Z");
}

TEST(RayCronJobPlan, UsesTheZoneOfTheOperatorWithoutATimeZone) {
  RayCronJobWorld world("0 2 * * *");
  world.options.local_zone = find_time_zone("Europe/Berlin").value();
  world.step();
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-16T01:00:00Z");
}

TEST(RayCronJobPlan, ARepeatedHourHasTwoRuns) {
  RayCronJobWorld world = settled("30 2 * * *");
  world.set_spec("timeZone", "Europe/Berlin");
  world.set_now(at("2027-10-31T00:30:00Z"));
  world.step();
  world.set_now(at("2027-10-31T01:30:00Z"));
  world.step();
  EXPECT_THAT(names(world), SizeIs(2));
}

TEST(RayCronJobPlan, AnIntervalCountsFromTheCreation) {
  RayCronJobWorld world = settled("@every 90s");
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T08:01:30Z");
  world.set_now(at("2027-01-15T08:10:00Z"));
  world.step();
  EXPECT_EQ(last_run(world), "2027-01-15T08:09:00Z");
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T08:10:30Z");
}

TEST(RayCronJobPlan, ReportsARayJobOfAnotherOwnerAndDoesNotChangeIt) {
  RayCronJobWorld world = settled();
  world.add_foreign_job("nightly-30000010");
  world.set_now(at("2027-01-15T08:10:00Z"));
  const Plan plan = world.step();
  EXPECT_THAT(plan::writes_of(plan), IsEmpty());
  EXPECT_THAT(plan, HasEvent("NameConflict"));
  EXPECT_THAT(plan.requeue_after, Optional(plan::kConflictRetry));
  EXPECT_EQ(scheduled(world),
            "False NameConflict: rayjob default/nightly-30000010 has no controller: delete it, or create the "
            "RayCronJob with another name");
  EXPECT_THAT(world.plan(), IsEmptyPlan());
  world.jobs().clear();
  world.step();
  EXPECT_THAT(names(world), SizeIs(1));
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T08:20:00Z");
}

TEST(RayCronJobPlan, TheNextRunStartsInSpiteOfAConflict) {
  RayCronJobWorld world = settled();
  world.add_foreign_job("nightly-30000010");
  world.set_now(at("2027-01-15T08:10:00Z"));
  world.step();
  world.set_now(at("2027-01-15T08:20:00Z"));
  EXPECT_THAT(plan::writes_of(world.step()), ElementsAre("create RayJob nightly-30000020"));
}

TEST(RayCronJobPlan, ReportsARayJobThatIsRefusedAndTriesAgain) {
  RayCronJobWorld world = settled();
  world.refuse([](const plan::Action& action) -> std::optional<Error> {
    if (action.type != rayjob::kRayJobs) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  });
  world.set_now(at("2027-01-15T08:10:00Z"));
  world.step();
  const Plan next = world.plan();
  EXPECT_THAT(plan::writes_of(next), IsEmpty());
  EXPECT_TRUE(next.keeps_failure);
  EXPECT_THAT(next.requeue_after, Optional(plan::kRefusalRetry));
  world.carry_out(next);
  EXPECT_THAT(scheduled(world), AllOf(HasSubstr("False FailedRayJob: "), HasSubstr("exceeded quota")));
  EXPECT_EQ(last_run(world), "");
  world.refuse(nullptr);
  world.pass(plan::kRefusalRetry);
  world.step();
  EXPECT_EQ(last_run(world), "2027-01-15T08:10:00Z");
  EXPECT_EQ(scheduled(world), "True Scheduled: the next run is at 2027-01-15T08:20:00Z");
}

TEST(RayCronJobPlan, RefusesASpecAndKeepsTheRayJobs) {
  RayCronJobWorld world = settled();
  world.set_now(at("2027-01-15T08:10:00Z"));
  world.step();
  world.set_spec("schedule", "0 0 30 2 *");
  world.set_now(at("2028-03-01T00:00:00Z"));
  const Plan plan = world.step();
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_THAT(plan.requeue_after, Eq(std::nullopt));
  EXPECT_THAT(plan, HasEvent("InvalidRayCronJobSpec"));
  EXPECT_EQ(scheduled(world), "False NotAccepted: the spec is refused");
  EXPECT_EQ(string_at(*condition(world, "tpuslice.dev/Accepted"), {"status"}), "False");
  EXPECT_THAT(names(world), SizeIs(1));
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(RayCronJobPlan, IsEmptyForOneThatIsDeleted) {
  RayCronJobWorld world = settled();
  world.object().mutable_json()["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z";
  world.set_now(at("2027-01-15T08:10:00Z"));
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

}  // namespace
}  // namespace tpuslice::raycronjob
