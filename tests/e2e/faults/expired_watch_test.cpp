// The operator is paused while the API server is killed and etcd compacted: its watches have expired (410).
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

TEST_F(ExpiredWatch, IsRelistedWithoutMissingChanges) {
  RayNamespace failing(client(), "expired-failing");
  RayNamespace deleted(client(), "expired-deleted");
  RayNamespace created(client(), "expired-created");
  for (RayNamespace* space : {&failing, &deleted}) ASSERT_TRUE(space->create().ok());
  const auto started = start_operator(false);
  ASSERT_TRUE(started.ok()) << started.error().message();
  OperatorProcess& op = **started;
  ASSERT_TRUE(failing.apply().ok());
  ASSERT_TRUE(deleted.apply().ok());
  ASSERT_TRUE(eventually([&] { return failing.ready() && deleted.ready(); }));
  const pid_t pid = op.pid();
  const auto metrics_before = op.metrics();
  ASSERT_TRUE(metrics_before.ok()) << metrics_before.error().message();
  const auto page = client().list(kPods, {.limit = 1});
  ASSERT_TRUE(page.ok()) << page.error().message();

  op.pause();
  // A write: a watch does not expire if the caches of the new API server begin at the last version that it has shown.
  ASSERT_TRUE(created.create().ok());
  plane().kill_apiserver();
  ASSERT_TRUE(plane().start_apiserver().ok());
  const std::set<std::string> before = failing.worker_uids();
  ASSERT_TRUE(failing.fail_worker(1).ok());
  ASSERT_TRUE(deleted.remove().ok());
  ASSERT_TRUE(created.apply().ok());
  // So that the operator observes the deletion only in its relist.
  ASSERT_TRUE(deleted.remove_children().ok());
  ASSERT_TRUE(deleted.is_deleted());
  ASSERT_TRUE(eventually([&] { return is_compacted(client(), page->resource_version); }));
  op.resume();

  EXPECT_TRUE(eventually([&] { return failing.rebuilt(before); })) << failing.digest();
  EXPECT_TRUE(eventually([&] { return created.ready(); })) << created.digest();
  // Services may have been listed before RayClusters, and created again. The garbage collector, which does not run
  // here, deletes those of a RayCluster that is gone.
  ASSERT_TRUE(deleted.remove_children().ok());
  EXPECT_TRUE(deleted.is_deleted()) << deleted.digest();
  const auto now = op.metrics();
  ASSERT_TRUE(now.ok()) << now.error().message();
  for (const char* resource : {"rayclusters.ray.io", "pods", "services"}) {
    for (const char* metric : {"tpuslice_watch_expired_total", "tpuslice_watch_lists_total"}) {
      const StringMap labels = {{"resource", resource}};
      EXPECT_GE(sum_of(*now, metric, labels) - sum_of(*metrics_before, metric, labels), 1)
          << metric << " of " << resource;
    }
  }
  EXPECT_EQ(op.pid(), pid);
  EXPECT_TRUE(op.ready());
}

}  // namespace
}  // namespace tpuslice::testing
