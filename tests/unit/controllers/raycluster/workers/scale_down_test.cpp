// A RayCluster whose spec is refused is still suspended and scaled down.
#include "controllers/raycluster/workers/worker_groups.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/suspension.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"
#include "tests/support/raycluster/world.h"

namespace tpuslice::raycluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two groups of three replicas of two hosts; then the number of hosts becomes one that the topology does not have.
class RefusedCluster : public ::testing::Test {
 protected:
  RefusedCluster() {
    world_.settle();
    for (Json& group : groups()) group["numOfHosts"] = 3;
  }

  Json& spec() { return world_.cluster().mutable_json()["spec"]; }
  Json& groups() { return spec()["workerGroupSpecs"]; }

  /// "<group>/<replica>" of the workers, once each.
  [[nodiscard]] std::set<std::string> slices() const {
    std::set<std::string> out;
    for (const auto& [name, pod] : world_.pods()) out.insert(slice_of(pod));
    out.erase("");
    return out;
  }
  [[nodiscard]] bool is(std::string_view condition) const {
    return is_condition_true(array_at(world_.cluster().json(), {"status", "conditions"}), condition);
  }

  World world_ = World(a_cluster("c", {{.name = "a", .replicas = 3, .hosts = 2, .topology = "2x4"},
                                       {.name = "b", .replicas = 3, .hosts = 2, .topology = "2x4"}}));
};

TEST_F(RefusedCluster, KeepsItsPods) {
  world_.settle();
  EXPECT_FALSE(is(plan::kAccepted));
  EXPECT_EQ(world_.pods().size(), 13U);
  EXPECT_THAT(world_.step(), plan::IsEmptyPlan());
}

TEST_F(RefusedCluster, IsSuspended) {
  spec()["suspend"] = true;
  EXPECT_THAT(world_.step().stages, IsEmpty()) << "it is recorded before the first pod is deleted";
  EXPECT_TRUE(is(kSuspendingCondition));
  world_.settle();
  EXPECT_THAT(world_.pods(), IsEmpty());
  EXPECT_TRUE(is(kSuspendedCondition));
  EXPECT_FALSE(is(kSuspendingCondition));
  EXPECT_FALSE(is(plan::kAccepted));
  EXPECT_EQ(world_.cluster().json()["status"]["state"], "suspended");
  EXPECT_THAT(world_.step(), plan::IsEmptyPlan());
}

TEST_F(RefusedCluster, CompletesASuspensionThatHasBegun) {
  for (Json& group : groups()) group["numOfHosts"] = 2;
  spec()["suspend"] = true;
  world_.step();
  for (Json& group : groups()) group["numOfHosts"] = 3;
  world_.settle();
  EXPECT_THAT(world_.pods(), IsEmpty());
  EXPECT_TRUE(is(kSuspendedCondition));
}

TEST_F(RefusedCluster, DeletesThePodsOfASuspendedGroup) {
  groups()[0]["suspend"] = true;
  EXPECT_THAT(world_.step().reason, HasSubstr("group a is suspended: deleting 6 pods"));
  world_.settle();
  EXPECT_THAT(slices(), ElementsAre("b/0", "b/1", "b/2"));
  EXPECT_THAT(world_.step(), plan::IsEmptyPlan());
}

TEST_F(RefusedCluster, DeletesWholeSurplusReplicas) {
  groups()[1]["replicas"] = 1;
  EXPECT_THAT(world_.step().reason,
              HasSubstr("replica 2 of group b is surplus, 1 of 3 replicas are desired: deleting 2 pods"));
  world_.settle();
  EXPECT_THAT(slices(), ElementsAre("a/0", "a/1", "a/2", "b/0"));
  EXPECT_THAT(world_.step(), plan::IsEmptyPlan());
  groups()[1]["replicas"] = 2;
  EXPECT_THAT(world_.step(), plan::IsEmptyPlan()) << "nothing is created";
}

TEST_F(RefusedCluster, DeletesAReplicaThatLostAPodBeforeOthers) {
  RayClusterObserved seen = world_.observed();
  for (PodPtr& pod : seen.pods) {
    if (pod->label("ray.io/group") == "b" && pod->label("ray.io/worker-group-replica-index") == "0") {
      change(pod, [](PodView& view) { view.phase = PodPhase::kFailed; });
    }
  }
  edit(seen.cluster)["spec"]["workerGroupSpecs"][1]["replicas"] = 2;
  const plan::Plan plan = plan_raycluster(seen, {});
  EXPECT_THAT(plan.reason, HasSubstr("replica 0 of group b is surplus"));
}

TEST_F(RefusedCluster, DeletesReplicasThatLostAPodInTheirOrderThenTheLastOnes) {
  RayClusterObserved seen = world_.observed();
  std::vector<PodPtr> workers;
  for (PodPtr& pod : seen.pods) {
    if (pod->label("ray.io/group") != "b") continue;
    const std::string& index = pod->label("ray.io/worker-group-replica-index");
    if (index == "0" || index == "1") change(pod, [](PodView& view) { view.phase = PodPhase::kFailed; });
    workers.push_back(pod);
  }
  const auto replicas_deleted_for = [&](int desired) {
    edit(seen.cluster)["spec"]["workerGroupSpecs"][1]["replicas"] = desired;
    std::vector<std::string> out;
    const WorkerDecision decision = decide_scale_down(RayClusterSpec::read(seen.cluster), workers);
    for (const auto& deleted : decision.deletes) {
      out.push_back(deleted.pods.front()->label("ray.io/worker-group-replica-index"));
    }
    return out;
  };
  EXPECT_THAT(replicas_deleted_for(2), ElementsAre("0"));
  EXPECT_THAT(replicas_deleted_for(1), ElementsAre("0", "1"));
  EXPECT_THAT(replicas_deleted_for(0), ElementsAre("0", "1", "2"));
}

TEST_F(RefusedCluster, DeletesListedReplicasOnlyIfRaysAutoscalerScalesIt) {
  spec()["enableInTreeAutoscaling"] = true;
  groups()[0]["replicas"] = 1;
  world_.settle();
  EXPECT_EQ(slices().size(), 6U) << "it alone knows which replicas are idle";
  for (const auto& [name, pod] : world_.pods()) {
    if (host_of(pod) == "a/1/0") groups()[0]["scaleStrategy"]["workersToDelete"] = Json::array({name});
  }
  world_.settle();
  EXPECT_THAT(slices(), ElementsAre("a/0", "a/2", "b/0", "b/1", "b/2"));
}

TEST_F(RefusedCluster, KeepsThePodsOfAGroupWhoseNumbersAreWrong) {
  groups()[0]["replicas"] = "1";
  groups()[1]["maxReplicas"] = -1;
  world_.settle();
  EXPECT_EQ(slices().size(), 6U);
}

TEST_F(RefusedCluster, KeepsAllPodsIfTwoGroupsHaveOneName) {
  groups()[1]["groupName"] = "a";
  groups()[1]["replicas"] = 0;
  world_.settle();
  EXPECT_EQ(slices().size(), 6U);
}

TEST_F(RefusedCluster, IsScaledDownWhateverItsNumberOfHosts) {
  for (Json& group : groups()) group["numOfHosts"] = 100'000'000;
  groups()[0]["replicas"] = 0;
  world_.settle();
  EXPECT_THAT(slices(), ElementsAre("b/0", "b/1", "b/2"));
}

}  // namespace
}  // namespace tpuslice::raycluster
