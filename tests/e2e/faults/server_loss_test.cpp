// The API server is killed and restarted while the operator works, or hangs for a while.
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/live_operator.h"
#include "tests/e2e/faults/ray_namespace.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

using LostServer = FaultTest;

TEST_F(LostServer, AnOutageDoesNotStopTheCreationOfSlices) {
  constexpr int kClusters = 6;
  constexpr Duration kOutage = 3s;
  std::vector<std::unique_ptr<RayNamespace>> spaces;
  for (int i = 0; i < kClusters; ++i) {
    spaces.push_back(std::make_unique<RayNamespace>(client(), fmt::format("outage-{}", i)));
    ASSERT_TRUE(spaces.back()->create().ok());
  }
  const auto started = start_operator(false);
  ASSERT_TRUE(started.ok()) << started.error().message();
  OperatorProcess& op = **started;
  const pid_t pid = op.pid();
  const std::size_t changes = pods().changes();
  for (const auto& space : spaces) ASSERT_TRUE(space->apply().ok());
  // The first pods exist; most do not.
  ASSERT_TRUE(eventually([&] { return pods().changes() > changes; }));
  plane().kill_apiserver();
  tpuslice::pause(kOutage, {});
  ASSERT_TRUE(plane().start_apiserver().ok());

  for (const auto& space : spaces) {
    EXPECT_TRUE(eventually([&] { return space->ready(); }, 60s)) << space->digest();
    EXPECT_THAT(space->children(), SizeIs(RayNamespace::kHosts + 1 + 2)) << "pods and two services";
  }
  EXPECT_EQ(op.pid(), pid);
  EXPECT_TRUE(op.ready());
  const auto errors = op.metric("rest_client_requests_total", {{"code", "<error>"}});
  EXPECT_GT(errors.value_or(0), 0) << "no request failed during the outage";
}

/// The kernel still acknowledges packets to a process that hangs, so the connection looks alive.
TEST_F(LostServer, WatchesOfAHangingServerTimeOutAndAreResumed) {
  RayNamespace space(client(), "hang");
  ASSERT_TRUE(space.create().ok());
  LiveOperatorOptions options{.namespace_name = space.name(), .log = plane().dir() + "/hang.log"};
  options.watch.min_watch_seconds = options.watch.max_watch_seconds = 2;
  options.watch.overdue = 1s;
  options.client.deadline = 2s;
  LiveOperator op(transport(), options);
  ASSERT_TRUE(space.apply().ok());
  ASSERT_TRUE(eventually([&] { return space.ready(); }));
  const std::set<std::string> before = space.worker_uids();

  ASSERT_TRUE(plane().pause("kube-apiserver").ok());
  const std::int64_t watches = op.watches();
  const bool retried = eventually([&] { return op.watches() >= watches + 3; }, 15s);
  ASSERT_TRUE(plane().resume("kube-apiserver").ok());
  EXPECT_TRUE(retried) << "each of three watches is opened again";
  ASSERT_TRUE(eventually([&] { return space.fail_worker(0).ok(); }));
  EXPECT_TRUE(eventually([&] { return space.rebuilt(before); })) << space.digest();
}

}  // namespace
}  // namespace tpuslice::testing
