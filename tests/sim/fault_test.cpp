// The operator completes its work under every fault between it and the API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fault_choices.h"
#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

class UnderFault : public ::testing::TestWithParam<NamedFaults> {};

TEST_P(UnderFault, SliceIsCreatedRepairedAndDeleted) {
  RayWorld world;
  OperatorOptions options;
  options.faults = GetParam().faults;
  world.start_operator(options);
  world.apply_tutorial();
  const auto reached = [&](const std::function<bool()>& condition) {
    return run_until_with(GetParam(), world, condition);
  };
  ASSERT_TRUE(reached([&] { return world.is_ready(); })) << world.ray_cluster().dump(1);
  const std::set<std::string> before = world.worker_uids();
  ASSERT_TRUE(world.cluster.fail_pod(world.worker(3), 1, "Evicted").ok());
  ASSERT_TRUE(reached([&] { return world.is_ready() && world.worker_uids() != before; })) << world.digest();
  ASSERT_TRUE(world.cluster.remove(kRayClusters, kTutorial).ok());
  EXPECT_TRUE(reached([&] { return world.cluster.storage().list("pods").empty(); })) << world.digest();
  EXPECT_THAT(world.violations, IsEmpty());
  world.run_for(1min);
  EXPECT_THAT(world.cluster.storage().list("services"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Of, UnderFault, ::testing::ValuesIn(all_faults()),
                         [](const auto& test) { return std::string(test.param.name); });

/// Regression: the retry after a lost status write was planned with the failure, and no plan without it followed.
TEST(AfterAFault, StatusDoesNotShowAPastFailure) {
  RayWorld world;
  OperatorOptions options;
  auto hit = std::make_shared<bool>(false);
  options.faults.error_every = 1;
  // The retry and the change of the status are one key in the queue.
  options.faults.delay_watch = 300ms;
  options.faults.only = [hit](const http::Request& request) {
    if (*hit || request.body.find("\"state\":\"ready\"") == std::string::npos) return false;
    return *hit = true;
  };
  world.start_operator(options);
  world.apply_tutorial();
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.ray_cluster()["status"].dump(1);
  EXPECT_TRUE(*hit);
}

}  // namespace
}  // namespace tpuslice::testing
