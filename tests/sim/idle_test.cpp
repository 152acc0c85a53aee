// Idle clusters cost no writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kClusters = 100;

sim::ClusterOptions room_for_all() {
  sim::ClusterOptions options;
  options.pools.clear();
  for (int i = 0; i < kClusters; ++i) {
    sim::NodePool pool = sim::default_node_pools().front();
    pool.name = fmt::format("slice-{:03}", i);
    options.pools.push_back(pool);
  }
  sim::NodePool cpu = sim::default_node_pools().back();
  cpu.hosts = kClusters / 2;
  cpu.cpu = "32";
  cpu.memory = "256Gi";
  options.pools.push_back(cpu);
  return options;
}

TEST(Idle, HundredRayClustersWriteNothingForAnHour) {
  RayWorld world(room_for_all());
  OperatorHarness& harness = world.start_operator();
  world.apply_tutorial();
  Json manifest = world.ray_cluster();
  manifest.erase("status");
  const auto key_of = [](int i) { return i == 0 ? kTutorial : ObjectKey{"default", fmt::format("copy-{}", i)}; };
  for (int i = 1; i < kClusters; ++i) {
    manifest["metadata"] = {{"name", key_of(i).name}, {"namespace", "default"}};
    // With children of every type.
    manifest["spec"]["enableInTreeAutoscaling"] = true;
    manifest["spec"]["headGroupSpec"]["enableIngress"] = true;
    manifest["spec"]["headGroupSpec"]["template"]["spec"].erase("serviceAccountName");
    ASSERT_TRUE(world.cluster.apply(manifest).ok());
  }
  const auto all_ready = [&] {
    for (int i = 0; i < kClusters; ++i) {
      if (string_at(world.ray_cluster(key_of(i)), {"status", "state"}) != "ready") return false;
    }
    return true;
  };
  ASSERT_TRUE(world.run_until(all_ready));
  // Event series are closed a few minutes after their last event.
  world.run_for(10min);
  EXPECT_NE(world.cluster.get("roles.rbac.authorization.k8s.io", {"default", "copy-1"}), nullptr);
  EXPECT_NE(world.cluster.get("ingresses.networking.k8s.io", {"default", "copy-1-head-ingress"}), nullptr);
  const std::int64_t writes = harness.faults().writes();
  const sim::Revision revision = world.cluster.storage().revision();
  world.run_for(60min);
  EXPECT_EQ(harness.faults().writes(), writes);
  EXPECT_EQ(world.cluster.storage().revision(), revision);
}

}  // namespace
}  // namespace tpuslice::testing
