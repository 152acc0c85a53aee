// The API server is killed in the middle of the operator's work and comes back, or falls silent for a while.
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/backoff.h"
#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/live_operator.h"
#include "tests/e2e/faults/ray_namespace.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

using LostServer = FaultTest;

TEST_F(LostServer, KilledWhileSlicesAreMadeItFindsTheWorkGoneOnWhenItIsBack) {
  constexpr int kClusters = 6;
  constexpr Duration kOutage = 3s;
  std::vector<std::unique_ptr<RayNamespace>> spaces;
  for (int i = 0; i < kClusters; ++i) {
    spaces.push_back(std::make_unique<RayNamespace>(client(), fmt::format("outage-{}", i)));
    ASSERT_TRUE(spaces.back()->make().ok());
  }
  const auto started = start_operator(false);
  ASSERT_TRUE(started.ok()) << started.error().message();
  OperatorProcess& op = **started;
  const pid_t pid = op.pid();
  const std::size_t changes = slices().changes();
  for (const auto& space : spaces) ASSERT_TRUE(space->apply().ok());
  // The first pods are there; most are not.
  ASSERT_TRUE(eventually([&] { return slices().changes() > changes; }));
  plane().kill_apiserver();
  runtime::pause(kOutage, {});
  ASSERT_TRUE(plane().start_apiserver().ok());

  for (const auto& space : spaces) {
    EXPECT_TRUE(eventually([&] { return space->ready(); }, 60s)) << space->digest();
    EXPECT_THAT(space->children(), SizeIs(RayNamespace::kHosts + 1 + 2)) << "pods and two services";
  }
  EXPECT_EQ(op.pid(), pid);
  EXPECT_TRUE(op.ready());
  const auto errors = op.metric("rest_client_requests_total", {{"code", "<error>"}});
  EXPECT_GT(errors.value_or(0), 0) << "the outage was not felt";
}

/// The kernel goes on to acknowledge what is sent to a process that hangs, so the connection looks alive.
TEST_F(LostServer, ThatHangsIsGivenUpAndFoundAgain) {
  RayNamespace space(client(), "silence");
  ASSERT_TRUE(space.make().ok());
  LiveOperatorOptions options{.namespace_name = space.name(), .log = plane().dir() + "/silence.log"};
  options.watch.shortest_watch = options.watch.longest_watch = 2;
  options.watch.slack = 1s;
  options.client.deadline = 2s;
  LiveOperator op(transport(), options);
  ASSERT_TRUE(space.apply().ok());
  ASSERT_TRUE(eventually([&] { return space.ready(); }));
  const std::set<std::string> before = space.worker_uids();

  ASSERT_TRUE(plane().pause("kube-apiserver").ok());
  const std::int64_t watches = op.watches();
  const bool noticed = eventually([&] { return op.watches() >= watches + 3; }, 15s);
  ASSERT_TRUE(plane().resume("kube-apiserver").ok());
  EXPECT_TRUE(noticed) << "each of three watches is given up and tried again";
  ASSERT_TRUE(eventually([&] { return space.fail_worker(0).ok(); }));
  EXPECT_TRUE(eventually([&] { return space.rebuilt(before); })) << space.digest();
}

}  // namespace
}  // namespace tpuslice::testing
