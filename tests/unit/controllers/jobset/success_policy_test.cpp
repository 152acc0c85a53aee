#include "controllers/jobset/child_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

bool succeeded_in(const World& world) {
  const Scene scene(world);
  return has_succeeded(scene.state.spec, scene.state.children);
}

struct SuccessCase {
  const char* name;
  const char* operation;  // Null: no policy.
  std::vector<std::string> targets;
  std::vector<std::string> complete;
  bool succeeded;
};

class SuccessPolicies : public testing::TestWithParam<SuccessCase> {};

// train has the Jobs driver-0, workers-0 and workers-1; idle has no replicas.
TEST_P(SuccessPolicies, AreMetAsInUpstream) {
  const SuccessCase& when = GetParam();
  JobSetBuilder jobset = a_jobset("train").job("driver").job("workers", 2).job("idle", 0);
  if (when.operation != nullptr) jobset.set("/spec/successPolicy/operator", when.operation);
  if (!when.targets.empty()) jobset.set("/spec/successPolicy/targetReplicatedJobs", when.targets);
  World world = jobset.everywhere(active);
  for (const std::string& job : when.complete) world.job("train-" + job, succeeded);
  EXPECT_EQ(succeeded_in(world), when.succeeded);
}

INSTANTIATE_TEST_SUITE_P(
    All, SuccessPolicies,
    testing::Values(SuccessCase{"NothingHasSucceeded", nullptr, {}, {}, false},
                    SuccessCase{"WithoutPolicyOneIsNotEnough", nullptr, {}, {"driver-0", "workers-0"}, false},
                    SuccessCase{"WithoutPolicyAllAre", nullptr, {}, {"driver-0", "workers-0", "workers-1"}, true},
                    SuccessCase{"AllNeedsAll", "All", {}, {"workers-0", "workers-1"}, false},
                    SuccessCase{"AllOfTheTargets", "All", {"workers"}, {"workers-0", "workers-1"}, true},
                    SuccessCase{"NotAllOfTheTargets", "All", {"workers"}, {"driver-0", "workers-1"}, false},
                    SuccessCase{"AllOfTwoTargets", "All", {"workers", "driver"}, {"workers-0", "workers-1"}, false},
                    SuccessCase{"AnyAtAll", "Any", {}, {"workers-1"}, true},
                    SuccessCase{"AnyOfTheTargets", "Any", {"driver"}, {"driver-0"}, true},
                    SuccessCase{"AnyButNotOfTheTargets", "Any", {"driver"}, {"workers-0", "workers-1"}, false},
                    SuccessCase{"AnyOfNothing", "Any", {}, {}, false},
                    SuccessCase{"AllOfATargetWithoutJobsOnceAnyJobSucceeds", "All", {"idle"}, {"driver-0"}, true},
                    SuccessCase{"AllOfATargetWithoutJobsNotBefore", "All", {"idle"}, {}, false}),
    [](const auto& test) { return test.param.name; });

TEST(SuccessPolicy, IgnoresJobsOfPreviousAttempts) {
  World world = a_jobset("train").job("workers", 2).restarts(3).everywhere(succeeded);
  EXPECT_TRUE(succeeded_in(world));
  world.set("/status/restarts", 1).job("train-workers-0", of_attempt(1));
  EXPECT_FALSE(succeeded_in(world));
}

}  // namespace
}  // namespace tpuslice::jobset
