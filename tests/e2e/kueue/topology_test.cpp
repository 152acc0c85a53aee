// Topology Aware Scheduling: Kueue chooses a host for each pod and holds the pods with a gate of its own until then.
// Its choice is the placement, if it is a whole slice.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tests/e2e/kueue/kueue_plane.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

const std::string kNodePool(tpu::kNodePoolLabel);

class KueueTopology : public KueueTest {
 protected:
  /// Creates a queue for exactly this workload, and the workload.
  void create_alone(WorkloadKind kind, const QueuedWorkload& workload) {
    create(make_queue(
        {.name = workload.queue, .chips = workload.chips(), .topology = workload.topology, .topology_aware = true}));
    create(kind, workload);
  }

  /// Its slices run on the hosts that Kueue has chosen, and our gate was not removed before Kueue's.
  void expect_on_chosen_hosts(const QueuedWorkload& workload) {
    expect_running(workload, "on the hosts that Kueue has chosen");
    std::set<std::string> hosts;
    for (const auto& [slice, pods] : slices_of(workload.name)) {
      for (const Json& pod : pods) {
        const std::string chosen = string_at(pod, {"spec", "nodeSelector", tpu::kHostnameLabel});
        EXPECT_EQ(string_at(pod, {"spec", "nodeName"}), chosen) << slice;
        hosts.insert(chosen);
      }
    }
    const auto all = static_cast<std::size_t>(workload.slices * workload.hosts);
    EXPECT_EQ(hosts.size(), all);
    EXPECT_GE(pods().held_by_both(kTopologyGate), all) << "Kueue's gate was not seen beside ours";
  }

  static StringMap one_pool() { return {{std::string(kRequiredTopology), kNodePool}}; }
  static StringMap pool_for_each(int hosts) {
    return {{std::string(kSliceRequiredTopology), kNodePool}, {std::string(kPodSetSliceSize), std::to_string(hosts)}};
  }
};

TEST_F(KueueTopology, JobSetOfTwoSlicesRunsOnTheChosenHosts) {
  const QueuedWorkload train{.name = "train", .queue = "tas-jobset", .annotations = pool_for_each(4)};
  create_alone(WorkloadKind::kJobSet, train);
  expect_on_chosen_hosts(train);
}

TEST_F(KueueTopology, IndexedJobOfTwoSlicesRunsOnTheChosenHosts) {
  const QueuedWorkload train{.name = "train", .queue = "tas-job", .annotations = pool_for_each(4)};
  create_alone(WorkloadKind::kJob, train);
  expect_on_chosen_hosts(train);
}

TEST_F(KueueTopology, LeaderWorkerSetOfTwoGroupsRunsOnTheChosenHosts) {
  const QueuedWorkload serve{.name = "serve", .queue = "tas-lws", .annotations = one_pool()};
  create_alone(WorkloadKind::kLeaderWorkerSet, serve);
  expect_on_chosen_hosts(serve);
}

TEST_F(KueueTopology, RayClusterOfOneSliceRunsOnTheChosenHosts) {
  const QueuedWorkload ray{.name = "ray", .queue = "tas-ray", .slices = 1, .annotations = one_pool()};
  create_alone(WorkloadKind::kRayCluster, ray);
  expect_on_chosen_hosts(ray);
}

TEST_F(KueueTopology, SliceOfSixteenHostsRunsOnTheChosenHosts) {
  const QueuedWorkload train{
      .name = "train", .queue = "tas-8x8", .slices = 1, .hosts = 16, .topology = "8x8", .annotations = one_pool()};
  create_alone(WorkloadKind::kJobSet, train);
  expect_on_chosen_hosts(train);
}

TEST_F(KueueTopology, TwoSlicesOfSixteenHostsRunOnTheChosenHosts) {
  const QueuedWorkload train{
      .name = "train", .queue = "tas-2x8x8", .hosts = 16, .topology = "8x8", .annotations = pool_for_each(16)};
  create_alone(WorkloadKind::kJobSet, train);
  expect_on_chosen_hosts(train);
}

// Every pool has three nodes that Kueue may choose: four hosts do not fit into one.
TEST_F(KueueTopology, SliceThatKueuePutsIntoTwoPoolsIsNotReleased) {
  for (int pool = 0; pool < kPools4x4; ++pool) cordon(fmt::format("p4x4-{:02}-3", pool));
  const QueuedWorkload ray{
      .name = "ray", .queue = "tas-split", .slices = 1, .annotations = {{std::string(kUnconstrainedTopology), "true"}}};
  create_alone(WorkloadKind::kRayCluster, ray);
  expect_condition("ray", "Admitted", "True");
  ASSERT_TRUE(eventually([&] { return pods().placed_by_kueue() == 4; })) << pods().placed_by_kueue();
  std::string reasons;
  EXPECT_TRUE(eventually([&] { return !(reasons = waiting_reasons("ray")).empty(); })) << "no waiting reason";
  EXPECT_NE(reasons.find("2 node pools"), std::string::npos) << reasons;
  fmt::print("waiting reason: {}", reasons);
  tpuslice::pause(3s, {});
  expect_no_pod_bound(ray, "although Kueue put its hosts into two pools");
}

// Pods of RayClusters have no rank for Kueue: it may give hosts of one replica nodes of both pools.
TEST_F(KueueTopology, ReplicasOfARayClusterThatKueueMixesAreNotReleased) {
  const QueuedWorkload ray{.name = "ray", .queue = "tas-mixed", .annotations = pool_for_each(4)};
  create_alone(WorkloadKind::kRayCluster, ray);
  ASSERT_TRUE(eventually([&] { return pods().placed_by_kueue() == 8; })) << pods().placed_by_kueue();
  std::map<std::string, std::set<std::string>> pools;
  for (const auto& [slice, members] : slices_of("ray")) {
    for (const Json& pod : members) {
      pools[slice].insert(pool_of_node(string_at(pod, {"spec", "nodeSelector", tpu::kHostnameLabel})));
    }
  }
  const bool mixed = std::ranges::any_of(pools, [](const auto& slice) { return slice.second.size() > 1; });
  fmt::print("Kueue {} the replicas\n", mixed ? "mixed" : "did not mix");
  if (!mixed) return expect_running(ray, "on the hosts that Kueue has chosen");
  std::string reasons;
  EXPECT_TRUE(eventually([&] { return !(reasons = waiting_reasons("ray")).empty(); })) << "no waiting reason";
  fmt::print("waiting reason: {}", reasons);
  tpuslice::pause(3s, {});
  expect_no_pod_bound(ray, "although Kueue mixed its replicas");
}

}  // namespace
}  // namespace tpuslice::testing
