// The lifecycle of a JobSet of two TPU slices, without faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/jobset_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class JobSetLifecycle : public ::testing::Test {
 protected:
  JobSetLifecycle() {
    world_.start_operator();
    world_.apply();
    ready_ = world_.run_until([this] { return world_.is_ready(); });
  }
  void TearDown() override {
    EXPECT_THAT(world_.violations, IsEmpty());
    EXPECT_THAT(world_.partial_slices(), IsEmpty());
  }

  std::set<std::string> pools() {
    std::set<std::string> out;
    for (const sim::JsonPtr& pod : world_.pods()) out.insert(world_.pool_of(*pod));
    return out;
  }

  JobSetWorld world_;
  bool ready_ = false;
};

TEST_F(JobSetLifecycle, BecomesReadyOnTwoNodePools) {
  ASSERT_TRUE(ready_) << world_.jobset().dump(1);
  EXPECT_THAT(world_.pods(), SizeIs(kSlices * kHosts));
  EXPECT_THAT(pools(), SizeIs(kSlices));
}

TEST_F(JobSetLifecycle, RestartsOnceForEachFailure) {
  ASSERT_TRUE(ready_);
  for (int failure = 1; failure <= 3; ++failure) {
    world_.fail_host(failure % kSlices, failure % kHosts);
    ASSERT_TRUE(world_.run_until([&] { return world_.is_ready(failure); })) << world_.state();
  }
  world_.run_for(5min);
  EXPECT_TRUE(world_.is_ready(3));
  EXPECT_EQ(world_.invariants.restarts(), 3);
}

TEST_F(JobSetLifecycle, CountsOneRestartIfBothSlicesFailAtOnce) {
  ASSERT_TRUE(ready_);
  world_.fail_host(0, 0);
  world_.fail_host(1, 1);
  ASSERT_TRUE(world_.run_until([&] { return world_.is_ready(1); })) << world_.state();
}

TEST_F(JobSetLifecycle, IsSuspendedAndResumedWithTheSameJobs) {
  ASSERT_TRUE(ready_);
  const auto uids = [this] {
    std::set<std::string> out;
    for (const sim::JsonPtr& job : world_.jobs()) out.insert(string_at(*job, {"metadata", "uid"}));
    return out;
  };
  const std::set<std::string> before = uids();
  world_.suspend();
  ASSERT_TRUE(world_.run_until([this] { return world_.is_suspended(); })) << world_.state();
  world_.suspend(false);
  ASSERT_TRUE(world_.run_until([this] { return world_.is_ready(); })) << world_.state();
  EXPECT_EQ(uids(), before);
}

TEST_F(JobSetLifecycle, CompletesWhenAllPodsSucceed) {
  ASSERT_TRUE(ready_);
  world_.finish_pods();
  EXPECT_TRUE(world_.run_until([this] { return world_.terminal_state() == "Completed"; })) << world_.state();
  world_.run_for(1min);
  EXPECT_EQ(world_.restarts(), 0);
}

TEST_F(JobSetLifecycle, FailsAtMaxRestarts) {
  world_.remove();
  ASSERT_TRUE(world_.run_until([this] { return world_.is_deleted(); }));
  std::string manifest = kTwoSlices;
  manifest.replace(manifest.find("maxRestarts: 50"), 15, "maxRestarts: 1");
  world_.apply(manifest);
  for (int failure = 0; failure < 2; ++failure) {
    ASSERT_TRUE(world_.run_until([&] { return world_.is_ready(failure); }));
    world_.fail_host(0, 0);
  }
  EXPECT_TRUE(world_.run_until([this] { return world_.terminal_state() == "Failed"; })) << world_.state();
  world_.run_for(1min);
  for (const sim::JsonPtr& pod : world_.pods()) EXPECT_TRUE(JobSetInvariants::is_terminal(*pod));
}

TEST_F(JobSetLifecycle, IsDeletedWithItsChildren) {
  ASSERT_TRUE(ready_);
  world_.remove();
  EXPECT_TRUE(world_.run_until([this] { return world_.is_deleted(); })) << world_.state();
}

}  // namespace
}  // namespace tpuslice::testing
