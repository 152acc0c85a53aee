#include "controllers/jobset/failure_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFirst = " (first failed job: train-workers-1)";

// Two replicated jobs, of which the Job train-workers-1 has failed.
World one_failed(const JobSetBuilder& jobset, const std::string& reason = "BackoffLimitExceeded",
                 const std::string& message = "Job has reached the specified backoff limit") {
  JobSetBuilder whole = jobset;
  World world = whole.job("driver").job("workers", 3).everywhere(ready);
  world.job("train-workers-1", failed(reason, message, 10s));
  return world;
}

JobSetBuilder with_rule(Json rule, int restarts = 3) {
  JobSetBuilder jobset = a_jobset("train");
  jobset.restarts(restarts).rule(std::move(rule));
  return jobset;
}

std::string failure(const Changes& changes) { return condition(changes.status.conditions, kFailed); }
std::string restarting(const Changes& changes) { return condition(changes.status.conditions, kRestarting); }

TEST(FailurePolicy, WithoutOneTheJobSetFails) {
  Scene scene(one_failed(a_jobset("train")));
  Changes& changes = scene.changes;
  apply_failure_policy(scene.children.failed, changes);
  const std::string message = std::string("jobset failed due to one or more job failures") + kFirst;
  EXPECT_EQ(failure(changes), "True FailedJobs: " + message);
  EXPECT_EQ(changes.status.terminal_state, "Failed");
  EXPECT_EQ(changes.status.restarts, 0);
  EXPECT_THAT(told(changes.events), ElementsAre("Warning FailedJobs: " + message));
  EXPECT_EQ(restarting(changes), "");
  EXPECT_THAT(changes.deletes, IsEmpty());
}

TEST(FailurePolicy, NamesTheJobThatFailedFirst) {
  World world = one_failed(a_jobset("train"));
  world.job("train-workers-0", failed("x", "", 11s)).job("train-workers-2", failed("x", "", 9s));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_THAT(failure(scene.changes), testing::EndsWith("(first failed job: train-workers-2)"));
}

TEST(FailurePolicy, OfTwoThatFailedAtOnceNamesTheFirstByName) {
  World world = one_failed(a_jobset("train"));
  world.job("train-workers-0", failed("x", "", 10s)).job("train-workers-2", failed("x", "", 10s));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_THAT(failure(scene.changes), testing::EndsWith("(first failed job: train-workers-0)"));
}

TEST(FailurePolicy, WithoutRulesRestartsTheWhole) {
  Scene scene(one_failed(a_jobset("train").restarts(1)));
  apply_failure_policy(scene.children.failed, scene.changes);
  const std::string message = std::string("applying RestartJobSet failure policy action") + kFirst;
  EXPECT_EQ(scene.changes.status.restarts, 1);
  EXPECT_EQ(scene.changes.status.counted_restarts, 1);
  EXPECT_EQ(failure(scene.changes), "");
  EXPECT_EQ(restarting(scene.changes), "True DefaultFailurePolicy: " + message);
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Warning DefaultFailurePolicy: " + message,
                                                      "Warning RestartJobSetFailurePolicyAction: " + message));
  EXPECT_THAT(scene.changes.deletes, IsEmpty()) << "the next plan finds them by their numbers";
}

TEST(FailurePolicy, FailsTheJobSetWhenItsRestartsAreUsedUp) {
  World world = one_failed(a_jobset("train").restarts(2));
  world.set("/status/restarts", 5).set("/status/restartsCountTowardsMax", 2).every_job(of_attempt(5));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  const std::string message = std::string("jobset failed due to reaching max number of restarts") + kFirst;
  EXPECT_EQ(failure(scene.changes), "True ReachedMaxRestarts: " + message);
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Warning ReachedMaxRestarts: " + message));
  EXPECT_EQ(scene.changes.status.restarts, 5);
  EXPECT_EQ(scene.changes.status.terminal_state, "Failed");
}

TEST(FailurePolicy, EndsTheRestartThatTheFailureCameIn) {
  World world = one_failed(a_jobset("train"));
  world.set("/status/conditions", Json::array({{{"type", "RestartingJobSet"},
                                                {"status", "True"},
                                                {"reason", "DefaultFailurePolicy"},
                                                {"message", "x"},
                                                {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(restarting(scene.changes), "False JobSetFailed: jobset failed");
  EXPECT_EQ(told(scene.changes.events).back(), "Normal JobSetFailed: jobset failed");
}

struct ActionCase {
  const char* action;
  bool fails;
  bool restarts_all;
  bool counts;
};

class FailureActions : public testing::TestWithParam<ActionCase> {};

TEST_P(FailureActions, DoWhatUpstreamsDo) {
  const ActionCase& expected = GetParam();
  Scene scene(one_failed(with_rule({{"name", "mine"}, {"action", expected.action}})));
  apply_failure_policy(scene.children.failed, scene.changes);
  const JobSetStatus& status = scene.changes.status;
  const std::string reason = std::string(expected.action) + "FailurePolicyAction";
  const std::string message = std::string("applying ") + expected.action + " failure policy action" + kFirst;
  EXPECT_EQ(told(scene.changes.events).back(), "Warning " + reason + ": " + message);
  EXPECT_EQ(failure(scene.changes), expected.fails ? "True " + reason + ": " + message : "");
  EXPECT_EQ(status.restarts, expected.restarts_all ? 1 : 0);
  EXPECT_EQ(status.counted_restarts, expected.restarts_all && expected.counts ? 1 : 0);
  EXPECT_EQ(status.all_counted_restarts(), expected.counts ? 1 : 0);
  EXPECT_EQ(restarting(scene.changes), expected.restarts_all ? "True FailurePolicy_mine: " + message : "");
  EXPECT_EQ(status.restarts_of("workers", 1), expected.fails || expected.restarts_all ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(All, FailureActions,
                         testing::Values(ActionCase{"FailJobSet", true, false, false},
                                         ActionCase{"RestartJobSet", false, true, true},
                                         ActionCase{"RestartJobSetAndIgnoreMaxRestarts", false, true, false},
                                         ActionCase{"RestartJob", false, false, true},
                                         ActionCase{"RestartJobAndIgnoreMaxRestarts", false, false, false}),
                         [](const auto& test) { return test.param.action; });

class CountedActions : public testing::TestWithParam<ActionCase> {};

TEST_P(CountedActions, AreTheOnesThatEndWithTheBudget) {
  Scene scene(one_failed(with_rule({{"action", GetParam().action}}, 0)));
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(scene.changes.status.terminal_state, GetParam().counts ? "Failed" : "");
}

INSTANTIATE_TEST_SUITE_P(All, CountedActions,
                         testing::Values(ActionCase{"RestartJobSet", false, true, true},
                                         ActionCase{"RestartJobSetAndIgnoreMaxRestarts", false, true, false},
                                         ActionCase{"RestartJob", false, false, true},
                                         ActionCase{"RestartJobAndIgnoreMaxRestarts", false, false, false}),
                         [](const auto& test) { return test.param.action; });

struct MatchCase {
  const char* name;
  Json rule;  // Without an action.
  bool matches;
};

class RuleMatches : public testing::TestWithParam<MatchCase> {};

TEST_P(RuleMatches, ByReasonMessageAndTarget) {
  Json rule = GetParam().rule;
  rule["action"] = "FailJobSet";
  Scene scene(one_failed(with_rule(rule), "PodFailurePolicy", "Container main failed with exit code 137"));
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(scene.changes.status.terminal_state, GetParam().matches ? "Failed" : "");
  EXPECT_EQ(scene.changes.status.restarts, GetParam().matches ? 0 : 1);
}

Json patterns(std::vector<std::string> list) { return {{"onJobFailureMessagePatterns", std::move(list)}}; }

INSTANTIATE_TEST_SUITE_P(
    All, RuleMatches,
    testing::Values(MatchCase{"Everything", Json::object(), true},
                    MatchCase{"TheReason", {{"onJobFailureReasons", {"PodFailurePolicy"}}}, true},
                    MatchCase{
                        "OneOfTheReasons", {{"onJobFailureReasons", {"DeadlineExceeded", "PodFailurePolicy"}}}, true},
                    MatchCase{"AnotherReason", {{"onJobFailureReasons", {"DeadlineExceeded"}}}, false},
                    MatchCase{"APartOfTheMessage", patterns({"exit code 13[0-9]"}), true},
                    MatchCase{"TheSecondPattern", patterns({"^nothing", "137$"}), true},
                    MatchCase{"NoPattern", patterns({"^exit"}), false},
                    MatchCase{"NoPatternThatIsNone", patterns({"(", "["}), false},
                    MatchCase{"PastAPatternThatIsNone", patterns({"(", "137"}), true},
                    MatchCase{"TheTarget", {{"targetReplicatedJobs", {"workers"}}}, true},
                    MatchCase{"AnotherTarget", {{"targetReplicatedJobs", {"driver"}}}, false},
                    MatchCase{"TheTargetButNotTheReason",
                              {{"targetReplicatedJobs", {"workers"}}, {"onJobFailureReasons", {"FailedIndexes"}}},
                              false}),
    [](const auto& test) { return test.param.name; });

TEST(FailurePolicy, HasTheFirstRuleThatMatchesAnyJobActOnTheFirstItMatches) {
  JobSetBuilder jobset = a_jobset("train").restarts(3);
  jobset.rule({{"action", "FailJobSet"}, {"onJobFailureReasons", {"FailedIndexes"}}});
  jobset.rule({{"action", "RestartJobSetAndIgnoreMaxRestarts"}, {"targetReplicatedJobs", {"workers"}}});
  jobset.rule({{"action", "FailJobSet"}});
  World world = one_failed(jobset);
  world.job("train-driver-0", failed("BackoffLimitExceeded", "", 1s));
  world.job("train-workers-2", failed("BackoffLimitExceeded", "", 5s));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(restarting(scene.changes),
            "True FailurePolicy_failurePolicyRule1: applying RestartJobSetAndIgnoreMaxRestarts failure policy action "
            "(first failed job: train-workers-2)");
}

TEST(FailurePolicy, DoesNotMatchAJobThatDoesNotSayWhichReplicatedJobItIsOf) {
  World world = one_failed(with_rule({{"action", "FailJobSet"}}));
  world.job("train-workers-1", without_mark(tpu::kReplicatedJobName));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(failure(scene.changes), "");
  EXPECT_EQ(scene.changes.status.restarts, 1);
}

TEST(FailurePolicy, RestartsSeveralFailedJobsByThemselvesInOnePlan) {
  World world = one_failed(with_rule({{"action", "RestartJob"}}));
  world.job("train-workers-0", failed("x", "", 20s)).job("train-driver-0", failed("x", "", 5s));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  const JobSetStatus& status = scene.changes.status;
  EXPECT_EQ(status.restarts, 0);
  EXPECT_EQ(status.all_counted_restarts(), 3);
  EXPECT_THAT(status.jobs.at("workers").restarts, ElementsAre(1, 1, 0));
  EXPECT_THAT(status.jobs.at("workers").counted_restarts, ElementsAre(1, 1, 0));
  EXPECT_THAT(status.jobs.at("driver").restarts, ElementsAre(1));
  const std::string what = "Warning RestartJobFailurePolicyAction: applying RestartJob failure policy action ";
  EXPECT_THAT(told(scene.changes.events),
              ElementsAre(what + "(first failed job: train-driver-0)", what + "(first failed job: train-workers-1)",
                          what + "(first failed job: train-workers-0)"));
}

TEST(FailurePolicy, FailsTheJobSetWhereTheBudgetEndsAmongSeveralFailedJobs) {
  World world = one_failed(with_rule({{"action", "RestartJob"}}, 1));
  world.job("train-workers-0", failed("x", "", 20s));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(failure(scene.changes),
            "True ReachedMaxRestarts: jobset failed due to reaching max number of restarts (first failed job: "
            "train-workers-0)");
}

TEST(FailurePolicy, RestartsTheWholeWhereOneOfSeveralAsksForIt) {
  World world = one_failed(with_rule({{"action", "RestartJob"}, {"targetReplicatedJobs", {"workers"}}}));
  world.job("train-driver-0", failed("x", "", 20s));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(scene.changes.status.restarts_of("workers", 1), 1);
  EXPECT_EQ(scene.changes.status.restarts, 1);
  EXPECT_EQ(scene.changes.status.all_counted_restarts(), 2);
}

TEST(FailurePolicy, CountsRestartsOfSingleJobsAgainstThoseOfTheWhole) {
  World world = one_failed(with_rule({{"action", "RestartJobSet"}}, 3));
  world.set("/status/restartsCountTowardsMax", 1);
  world.set(
      "/status/replicatedJobsStatus",
      Json::array({{{"name", "workers"}, {"jobRestarts", {0, 0, 3}}, {"jobRestartsCountTowardsMax", {0, 0, 2}}}}));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(scene.changes.status.terminal_state, "Failed");
}

class LostIndexes : public testing::TestWithParam<const char*> {};

TEST_P(LostIndexes, RestartTheWholeForTheOneCannotBeNumbered) {
  World world = one_failed(with_rule({{"action", "RestartJob"}}));
  world.job("train-workers-1", with_label(tpu::kJobIndex, GetParam()));
  Scene scene(world);
  apply_failure_policy(scene.children.failed, scene.changes);
  EXPECT_EQ(scene.changes.status.restarts, 1);
  EXPECT_THAT(scene.changes.status.jobs.at("workers").restarts, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, LostIndexes, testing::Values("first", "3", "2000000000"),
                         [](const auto& test) { return "Index" + std::string(test.param); });

}  // namespace
}  // namespace tpuslice::jobset
