// The operator wakes up after the API server was killed and etcd compacted: what it watched from is forgotten (410).
#include <memory>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/ray_namespace.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

using ExpiredWatch = FaultTest;

/// Whether the state at `version` can no longer be read.
bool is_compacted(client::Client& client, const std::string& version) {
  const auto page = client.list(kPods, {.limit = 0, .resource_version = version, .resource_version_match = "Exact"});
  return !page && page.error().code() == ErrorCode::kExpired;
}

TEST_F(ExpiredWatch, IsListedAgainAndNothingIsMissed) {
  RayNamespace failing(client(), "expired-failing");
  RayNamespace leaving(client(), "expired-leaving");
  RayNamespace coming(client(), "expired-coming");
  for (RayNamespace* space : {&failing, &leaving, &coming}) ASSERT_TRUE(space->make().ok());
  const auto started = start_operator(false);
  ASSERT_TRUE(started.ok()) << started.error().message();
  OperatorProcess& op = **started;
  ASSERT_TRUE(failing.apply().ok());
  ASSERT_TRUE(leaving.apply().ok());
  ASSERT_TRUE(eventually([&] { return failing.ready() && leaving.ready(); }));
  const pid_t pid = op.pid();
  const auto seen = op.metrics();
  ASSERT_TRUE(seen.ok()) << seen.error().message();
  const auto page = client().list(kPods, {.limit = 1});
  ASSERT_TRUE(page.ok()) << page.error().message();

  op.pause();
  plane().kill_apiserver();
  ASSERT_TRUE(plane().start_apiserver().ok());
  const std::set<std::string> before = failing.worker_uids();
  ASSERT_TRUE(failing.fail_worker(1).ok());
  ASSERT_TRUE(leaving.remove().ok());
  ASSERT_TRUE(coming.apply().ok());
  // So that the operator sees nothing of the deletion but that nothing is left.
  ASSERT_TRUE(leaving.remove_children().ok());
  ASSERT_TRUE(leaving.gone());
  ASSERT_TRUE(eventually([&] { return is_compacted(client(), page->resource_version); }));
  op.resume();

  EXPECT_TRUE(eventually([&] { return failing.rebuilt(before); })) << failing.digest();
  EXPECT_TRUE(eventually([&] { return coming.ready(); })) << coming.digest();
  EXPECT_TRUE(leaving.gone()) << leaving.digest();
  const auto now = op.metrics();
  ASSERT_TRUE(now.ok()) << now.error().message();
  for (const char* resource : {"rayclusters.ray.io", "pods", "services"}) {
    for (const char* metric : {"tpuslice_watch_expired_total", "tpuslice_watch_lists_total"}) {
      const StringMap labels = {{"resource", resource}};
      EXPECT_GE(sum_of(*now, metric, labels) - sum_of(*seen, metric, labels), 1) << metric << " of " << resource;
    }
  }
  EXPECT_EQ(op.pid(), pid);
  EXPECT_TRUE(op.ready());
}

}  // namespace
}  // namespace tpuslice::testing
