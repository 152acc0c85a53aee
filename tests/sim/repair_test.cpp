// A slice that loses a host is rebuilt whole, and two live pods never have one host index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class Repair : public ::testing::Test {
 protected:
  Repair() {
    world_.start_operator();
    world_.apply_tutorial();
    TPUSLICE_CHECK(world_.run_until([this] { return world_.is_ready(); }));
    before_ = world_.worker_uids();
  }

  void expect_rebuilt_whole() {
    ASSERT_TRUE(world_.run_until([this] { return world_.is_ready() && world_.worker_uids() != before_; }))
        << world_.ray_cluster().dump(1);
    for (const std::string& uid : world_.worker_uids()) EXPECT_EQ(before_.count(uid), 0U) << "a pod of the old slice";
    std::set<std::string> pools;
    for (const auto& pod : world_.workers()) pools.insert(world_.pool_of(*pod));
    EXPECT_THAT(pools, SizeIs(1));
    EXPECT_THAT(world_.violations, IsEmpty());
  }

  RayWorld world_;
  std::set<std::string> before_;
};

TEST_F(Repair, AfterAWorkerPodWasDeleted) {
  ASSERT_TRUE(world_.cluster.remove("pods", world_.worker(2)).ok());
  expect_rebuilt_whole();
}

TEST_F(Repair, AfterAWorkerPodFailed) {
  ASSERT_TRUE(world_.cluster.fail_pod(world_.worker(0), 137, "Evicted").ok());
  expect_rebuilt_whole();
}

TEST_F(Repair, AfterANodeWasReplaced) {
  const sim::JsonPtr pod = world_.cluster.get("pods", world_.worker(1));
  const std::string node = string_at(*pod, {"spec", "nodeName"});
  ASSERT_TRUE(world_.cluster.delete_node(node).ok());
  // Affinity alone may put three hosts into the pool that lacks one; they wait for the new machine.
  world_.run_for(2min);
  ASSERT_TRUE(world_.cluster.restore_node(node).ok());
  expect_rebuilt_whole();
}

TEST_F(Repair, OfTheHeadLeavesTheServiceInPlace) {
  const sim::JsonPtr head = world_.pods_of(kTutorial, "head").front();
  const std::string service_uid =
      string_at(*world_.cluster.get("services", {"default", "maxtext-tpu-cluster-head-svc"}), {"metadata", "uid"});
  ASSERT_TRUE(world_.cluster.remove("pods", Object(*head).key()).ok());
  ASSERT_TRUE(world_.run_until([&] {
    return world_.is_ready() && string_at(*world_.pods_of(kTutorial, "head").front(), {"metadata", "uid"}) !=
                                    string_at(*head, {"metadata", "uid"});
  })) << world_.ray_cluster().dump(1);
  EXPECT_EQ(
      string_at(*world_.cluster.get("services", {"default", "maxtext-tpu-cluster-head-svc"}), {"metadata", "uid"}),
      service_uid);
  EXPECT_THAT(world_.violations, IsEmpty());
}

TEST_F(Repair, WaitsForALostNodeToGiveUpItsPod) {
  const sim::JsonPtr pod = world_.cluster.get("pods", world_.worker(1));
  const std::string node = string_at(*pod, {"spec", "nodeName"});
  ASSERT_TRUE(world_.cluster.set_node_ready(node, false).ok());
  world_.run_for(10min);
  EXPECT_THAT(world_.violations, IsEmpty()) << "the pod on the lost node may still run";
  ASSERT_TRUE(world_.cluster.set_node_ready(node, true).ok());
  expect_rebuilt_whole();
}

TEST_F(Repair, ReplacesAHeadOnALostNode) {
  const Json head = *world_.pods_of(kTutorial, "head").front();
  const std::string node = string_at(head, {"spec", "nodeName"});
  ASSERT_TRUE(world_.cluster.set_node_ready(node, false).ok());
  const auto deleted = world_.cluster.remove("pods", Object(head).key());  // As Kubernetes evicts it.
  ASSERT_TRUE(deleted.ok());
  world_.run_for(4min);
  ASSERT_EQ(world_.pods_of(kTutorial, "head").size(), 1U);
  EXPECT_EQ((*world_.pods_of(kTutorial, "head").front())["metadata"]["uid"], head["metadata"]["uid"])
      << "it may still run";
  ASSERT_TRUE(world_.run_until(
      [&] {
        const auto heads = world_.pods_of(kTutorial, "head");
        return heads.size() == 1 && (*heads.front())["metadata"]["uid"] != head["metadata"]["uid"];
      },
      10min))
      << world_.ray_cluster().dump(1);
  EXPECT_THAT(world_.violations, IsEmpty());
}

TEST_F(Repair, FollowsAChangeOfReplicas) {
  const auto scale = [this](int replicas) {
    const sim::ResourcePtr resource = world_.cluster.registry().resources().find_id(kRayClusters);
    ASSERT_TRUE(world_.cluster.registry()
                    .modify(*resource, kTutorial, {},
                            [&](Json& json) -> Status {
                              json["spec"]["workerGroupSpecs"][0]["replicas"] = replicas;
                              json["spec"]["workerGroupSpecs"][0]["minReplicas"] = 0;
                              return {};
                            })
                    .ok());
  };
  scale(2);
  EXPECT_TRUE(world_.run_until([this] { return world_.is_ready(kTutorial, 8); })) << world_.ray_cluster().dump(1);
  scale(1);
  EXPECT_TRUE(world_.run_until([this] { return world_.is_ready(kTutorial, 4); }));
  scale(0);
  EXPECT_TRUE(world_.run_until([this] { return world_.is_ready(kTutorial, 0); }));
  EXPECT_THAT(world_.violations, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::testing
