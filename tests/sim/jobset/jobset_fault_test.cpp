// Faults between the operator and the API server, two operators at a time, and idle JobSets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fault_choices.h"
#include "tests/support/jobset_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

class JobSetUnderFault : public ::testing::TestWithParam<NamedFaults> {};

TEST_P(JobSetUnderFault, CompletesItsLifecycle) {
  JobSetWorld world;
  OperatorOptions options;
  options.faults = GetParam().faults;
  world.start_operator(options);
  const auto reached = [&](const std::function<bool()>& condition) {
    return run_until_with(GetParam(), world, condition);
  };
  world.apply();
  ASSERT_TRUE(reached([&] { return world.is_ready(); })) << world.state();
  world.fail_host(0, 1);
  ASSERT_TRUE(reached([&] { return world.is_ready(1); })) << world.state();
  world.suspend();
  ASSERT_TRUE(reached([&] { return world.is_suspended(); })) << world.state();
  world.suspend(false);
  ASSERT_TRUE(reached([&] { return world.is_ready(1); })) << world.state();
  EXPECT_THAT(world.partial_slices(), IsEmpty());
  world.finish_pods();
  ASSERT_TRUE(reached([&] { return world.terminal_state() == "Completed"; })) << world.state();
  world.remove();
  EXPECT_TRUE(reached([&] { return world.is_deleted(); })) << world.state();
  EXPECT_THAT(world.violations, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, JobSetUnderFault, ::testing::ValuesIn(all_faults()),
                         [](const auto& test) { return std::string(test.param.name); });

/// Regression: the failure of a status write was written to the status, removed after the next write, and so on.
TEST(JobSetAfterAFault, DoesNotReportFailedStatusWritesInTheStatus) {
  JobSetWorld world;
  OperatorOptions options;
  options.faults.drop_reply_every = 2;
  OperatorHarness& harness = world.start_operator(options);
  world.apply();
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(); }));
  EXPECT_LT(harness.faults().writes(), 100);
}

/// A paused process that continues after its lease expired: for a moment both write.
TEST(JobSetLeadership, OverlapDoesNotDuplicateRestarts) {
  JobSetWorld world;
  OperatorOptions late;
  late.identity = "late";
  late.faults.delay_watch = 2s;
  world.start_operator();
  world.start_operator(late);
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.state();
  for (int failure = 1; failure <= 4; ++failure) {
    SCOPED_TRACE(failure);
    world.fail_host(failure % kSlices, failure / 2 % kHosts);
    ASSERT_TRUE(world.run_until([&] { return world.is_ready(failure); })) << world.state();
    world.run_for(1min);
    EXPECT_TRUE(world.is_ready(failure)) << world.state();
  }
  world.suspend();
  ASSERT_TRUE(world.run_until([&] { return world.is_suspended(); })) << world.state();
  world.suspend(false);
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(4); })) << world.state();
  world.run_for(1min);
  EXPECT_TRUE(world.is_ready(4)) << world.state();
  EXPECT_THAT(world.violations, IsEmpty());
}

TEST(JobSetLeadership, OnlyTheLeaderWrites) {
  JobSetWorld world;
  for (const char* identity : {"a", "b"}) {
    OperatorOptions options;
    options.identity = identity;
    options.leader_elect = true;
    options.seed = identity[0];
    world.start_operator(options);
  }
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); }));
  const std::int64_t first = world.operators[0]->faults().writes();
  const std::int64_t second = world.operators[1]->faults().writes();
  EXPECT_EQ(std::min(first, second), 0);
  // The other takes over in the middle of a restart.
  world.fail_host(0, 0);
  ASSERT_TRUE(world.run_until([&] { return world.restarts() == 1; }));
  world.operators.erase(world.operators.begin() + (first > second ? 0 : 1));
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(1); }, 2min)) << world.state();
  EXPECT_THAT(world.violations, IsEmpty());
}

TEST(JobSetIdle, FiftyJobSetsWriteNothingForAnHour) {
  constexpr int kIdleJobSets = 50;
  JobSetWorld world(pools_for(kSlices * kIdleJobSets));
  OperatorHarness& harness = world.start_operator();
  world.apply();
  Json manifest = world.jobset();
  manifest.erase("status");
  const Json annotations = manifest["metadata"]["annotations"];
  std::vector<ObjectKey> keys{kTrain};
  for (int i = 1; i < kIdleJobSets; ++i) {
    keys.push_back({"default", fmt::format("copy-{}", i)});
    manifest["metadata"] = {{"name", keys.back().name}, {"namespace", "default"}, {"annotations", annotations}};
    // Ready, suspended, and waiting for nodes.
    manifest["spec"]["suspend"] = i % 5 == 1;
    manifest["spec"]["replicatedJobs"][0]["replicas"] = i % 5 == 2 ? 3 : kSlices;
    ASSERT_TRUE(world.cluster.apply(manifest).ok());
  }
  // Event series are closed a few minutes after their last event.
  world.run_for(20min);
  int ready = 0;
  for (const ObjectKey& key : keys) ready += world.is_ready(0, key) ? 1 : 0;
  EXPECT_GE(ready, kIdleJobSets / 2);
  const std::int64_t writes = harness.faults().writes();
  const sim::Revision revision = world.cluster.storage().revision();
  world.run_for(60min);
  EXPECT_EQ(harness.faults().writes(), writes);
  EXPECT_EQ(world.cluster.storage().revision(), revision);
}

}  // namespace
}  // namespace tpuslice::testing
