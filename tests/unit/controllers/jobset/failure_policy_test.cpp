#include "controllers/jobset/failure_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

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

// Applies the policy to the failed Jobs and renders the decision.
Outcome apply(const World& world) {
  const Scene scene(world);
  Decisions decisions;
  decisions.failure = apply_failure_policy(scene.state.spec, scene.state.status, scene.state.children.failed);
  return scene.render(decisions);
}

std::string failure(const Outcome& outcome) { return condition(outcome.status.conditions, kFailed); }
std::string restarting(const Outcome& outcome) { return condition(outcome.status.conditions, kRestarting); }

TEST(FailurePolicy, FailsTheJobSetByDefault) {
  const Outcome out = apply(one_failed(a_jobset("train")));
  const std::string message = std::string("jobset failed due to one or more job failures") + kFirst;
  EXPECT_EQ(failure(out), "True FailedJobs: " + message);
  EXPECT_EQ(out.status.terminal_state, "Failed");
  EXPECT_EQ(out.status.restarts, 0);
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Warning FailedJobs: " + message));
  EXPECT_EQ(restarting(out), "");
  EXPECT_THAT(out.plan.stages, IsEmpty());
}

TEST(FailurePolicy, NamesTheJobThatFailedFirst) {
  World world = one_failed(a_jobset("train"));
  world.job("train-workers-0", failed("x", "", 11s)).job("train-workers-2", failed("x", "", 9s));
  const Outcome out = apply(world);
  EXPECT_THAT(failure(out), testing::EndsWith("(first failed job: train-workers-2)"));
}

TEST(FailurePolicy, NamesTheFirstByNameIfTwoFailedAtOnce) {
  World world = one_failed(a_jobset("train"));
  world.job("train-workers-0", failed("x", "", 10s)).job("train-workers-2", failed("x", "", 10s));
  const Outcome out = apply(world);
  EXPECT_THAT(failure(out), testing::EndsWith("(first failed job: train-workers-0)"));
}

TEST(FailurePolicy, RestartsTheJobSetByDefaultIfItHasRestartsLeft) {
  const Outcome out = apply(one_failed(a_jobset("train").restarts(1)));
  const std::string message = std::string("applying RestartJobSet failure policy action") + kFirst;
  EXPECT_EQ(out.status.restarts, 1);
  EXPECT_EQ(out.status.counted_restarts, 1);
  EXPECT_EQ(failure(out), "");
  EXPECT_EQ(restarting(out), "True DefaultFailurePolicy: " + message);
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Warning DefaultFailurePolicy: " + message,
                                                     "Warning RestartJobSetFailurePolicyAction: " + message));
  EXPECT_THAT(out.plan.stages, IsEmpty()) << "the next plan finds the Jobs by their attempt";
}

TEST(FailurePolicy, FailsTheJobSetAtMaxRestarts) {
  World world = one_failed(a_jobset("train").restarts(2));
  world.set("/status/restarts", 5).set("/status/restartsCountTowardsMax", 2).every_job(of_attempt(5));
  const Outcome out = apply(world);
  const std::string message = std::string("jobset failed due to reaching max number of restarts") + kFirst;
  EXPECT_EQ(failure(out), "True ReachedMaxRestarts: " + message);
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Warning ReachedMaxRestarts: " + message));
  EXPECT_EQ(out.status.restarts, 5);
  EXPECT_EQ(out.status.terminal_state, "Failed");
}

TEST(FailurePolicy, SetsRestartingToFalseIfTheJobSetFails) {
  World world = one_failed(a_jobset("train"));
  world.set("/status/conditions", Json::array({{{"type", "RestartingJobSet"},
                                                {"status", "True"},
                                                {"reason", "DefaultFailurePolicy"},
                                                {"message", "x"},
                                                {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}));
  const Outcome out = apply(world);
  EXPECT_EQ(restarting(out), "False JobSetFailed: jobset failed");
  EXPECT_EQ(describe(out.plan.events).back(), "Normal JobSetFailed: jobset failed");
}

struct ActionCase {
  const char* action;
  bool fails;
  bool restarts_all;
  bool counts;
};

class FailureActions : public testing::TestWithParam<ActionCase> {};

TEST_P(FailureActions, BehaveAsInUpstream) {
  const ActionCase& expected = GetParam();
  const Outcome out = apply(one_failed(with_rule({{"name", "mine"}, {"action", expected.action}})));
  const JobSetStatus& status = out.status;
  const std::string reason = std::string(expected.action) + "FailurePolicyAction";
  const std::string message = std::string("applying ") + expected.action + " failure policy action" + kFirst;
  EXPECT_EQ(describe(out.plan.events).back(), "Warning " + reason + ": " + message);
  EXPECT_THAT(out.plan, plan::CountsOnly(kCounters));
  EXPECT_THAT(out.plan.measurements, testing::SizeIs(expected.fails ? 2 : 1));
  EXPECT_EQ(failure(out), expected.fails ? "True " + reason + ": " + message : "");
  EXPECT_EQ(status.restarts, expected.restarts_all ? 1 : 0);
  EXPECT_EQ(status.counted_restarts, expected.restarts_all && expected.counts ? 1 : 0);
  EXPECT_EQ(status.all_counted_restarts(), expected.counts ? 1 : 0);
  EXPECT_EQ(restarting(out), expected.restarts_all ? "True FailurePolicy_mine: " + message : "");
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

TEST_P(CountedActions, FailAtMaxRestarts) {
  const Outcome out = apply(one_failed(with_rule({{"action", GetParam().action}}, 0)));
  EXPECT_EQ(out.status.terminal_state, GetParam().counts ? "Failed" : "");
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
  const Outcome out =
      apply(one_failed(with_rule(rule), "PodFailurePolicy", "Container main failed with exit code 137"));
  EXPECT_EQ(out.status.terminal_state, GetParam().matches ? "Failed" : "");
  EXPECT_EQ(out.status.restarts, GetParam().matches ? 0 : 1);
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
                    MatchCase{"OnlyInvalidPatterns", patterns({"(", "["}), false},
                    MatchCase{"AfterAnInvalidPattern", patterns({"(", "137"}), true},
                    MatchCase{"TheTarget", {{"targetReplicatedJobs", {"workers"}}}, true},
                    MatchCase{"AnotherTarget", {{"targetReplicatedJobs", {"driver"}}}, false},
                    MatchCase{"TheTargetButNotTheReason",
                              {{"targetReplicatedJobs", {"workers"}}, {"onJobFailureReasons", {"FailedIndexes"}}},
                              false}),
    [](const auto& test) { return test.param.name; });

TEST(FailurePolicy, AppliesTheFirstMatchingRuleToItsFirstFailedJob) {
  JobSetBuilder jobset = a_jobset("train").restarts(3);
  jobset.rule({{"action", "FailJobSet"}, {"onJobFailureReasons", {"FailedIndexes"}}});
  jobset.rule({{"action", "RestartJobSetAndIgnoreMaxRestarts"}, {"targetReplicatedJobs", {"workers"}}});
  jobset.rule({{"action", "FailJobSet"}});
  World world = one_failed(jobset);
  world.job("train-driver-0", failed("BackoffLimitExceeded", "", 1s));
  world.job("train-workers-2", failed("BackoffLimitExceeded", "", 5s));
  const Outcome out = apply(world);
  EXPECT_EQ(restarting(out),
            "True FailurePolicy_failurePolicyRule1: applying RestartJobSetAndIgnoreMaxRestarts failure policy action "
            "(first failed job: train-workers-2)");
}

TEST(FailurePolicy, DoesNotMatchAJobWithoutReplicatedJobName) {
  World world = one_failed(with_rule({{"action", "FailJobSet"}}));
  world.job("train-workers-1", without_label(kReplicatedJobName));
  const Outcome out = apply(world);
  EXPECT_EQ(failure(out), "");
  EXPECT_EQ(out.status.restarts, 1);
}

TEST(FailurePolicy, RestartsSeveralSingleJobsInOnePlan) {
  World world = one_failed(with_rule({{"action", "RestartJob"}}));
  world.job("train-workers-0", failed("x", "", 20s)).job("train-driver-0", failed("x", "", 5s));
  const Outcome out = apply(world);
  const JobSetStatus& status = out.status;
  EXPECT_EQ(status.restarts, 0);
  EXPECT_EQ(status.all_counted_restarts(), 3);
  EXPECT_THAT(status.jobs.at("workers").restarts, ElementsAre(1, 1, 0));
  EXPECT_THAT(status.jobs.at("workers").counted_restarts, ElementsAre(1, 1, 0));
  EXPECT_THAT(status.jobs.at("driver").restarts, ElementsAre(1));
  const std::string what = "Warning RestartJobFailurePolicyAction: applying RestartJob failure policy action ";
  EXPECT_THAT(describe(out.plan.events),
              ElementsAre(what + "(first failed job: train-driver-0)", what + "(first failed job: train-workers-1)",
                          what + "(first failed job: train-workers-0)"));
}

TEST(FailurePolicy, FailsTheJobSetIfMaxRestartsIsReachedAmongSeveralFailedJobs) {
  World world = one_failed(with_rule({{"action", "RestartJob"}}, 1));
  world.job("train-workers-0", failed("x", "", 20s));
  const Outcome out = apply(world);
  EXPECT_EQ(failure(out),
            "True ReachedMaxRestarts: jobset failed due to reaching max number of restarts (first failed job: "
            "train-workers-0)");
}

TEST(FailurePolicy, RestartsTheJobSetIfOneOfSeveralFailedJobsRequiresIt) {
  World world = one_failed(with_rule({{"action", "RestartJob"}, {"targetReplicatedJobs", {"workers"}}}));
  world.job("train-driver-0", failed("x", "", 20s));
  const Outcome out = apply(world);
  EXPECT_EQ(out.status.restarts_of("workers", 1), 1);
  EXPECT_EQ(out.status.restarts, 1);
  EXPECT_EQ(out.status.all_counted_restarts(), 2);
}

TEST(FailurePolicy, CountsRestartsOfSingleJobsTowardsMaxRestarts) {
  World world = one_failed(with_rule({{"action", "RestartJobSet"}}, 3));
  world.set("/status/restartsCountTowardsMax", 1);
  world.set(
      "/status/replicatedJobsStatus",
      Json::array({{{"name", "workers"}, {"jobRestarts", {0, 0, 3}}, {"jobRestartsCountTowardsMax", {0, 0, 2}}}}));
  const Outcome out = apply(world);
  EXPECT_EQ(out.status.terminal_state, "Failed");
}

// Compiled for each pair of failed Jobs, these patterns would take minutes.
TEST(FailurePolicy, CompilesEachPatternOnce) {
  Json patterns = Json::array();
  for (int i = 0; i < 64; ++i) patterns.push_back(fmt::format("(q|b{}){{1,30}}", i));
  JobSetBuilder jobset = a_jobset("train");
  jobset.restarts(3)
      .rule({{"action", "FailJobSet"}, {"onJobFailureMessagePatterns", std::move(patterns)}})
      .rule({{"action", "RestartJobAndIgnoreMaxRestarts"}});
  World world = jobset.job("workers", 1000).everywhere(failed("x", "no match", 10s));
  const Scene scene(world);
  const FailureDecision decision =
      apply_failure_policy(scene.state.spec, scene.state.status, scene.state.children.failed);
  EXPECT_EQ(decision.job_restarts.size(), 1000U);
  EXPECT_FALSE(decision.restart);
  EXPECT_FALSE(decision.failed);
}

class LostIndexes : public testing::TestWithParam<const char*> {};

TEST_P(LostIndexes, RestartTheJobSet) {
  World world = one_failed(with_rule({{"action", "RestartJob"}}));
  world.job("train-workers-1", with_label(kJobIndex, GetParam()));
  const Outcome out = apply(world);
  EXPECT_EQ(out.status.restarts, 1);
  EXPECT_THAT(out.status.jobs.at("workers").restarts, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, LostIndexes, testing::Values("first", "3", "2000000000"),
                         [](const auto& test) { return "Index" + std::string(test.param); });

}  // namespace
}  // namespace tpuslice::jobset
