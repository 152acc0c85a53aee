// The MaxText tutorial's RayCluster, from creation to deletion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::string env_of(const Json& pod, const std::string& name) {
  for (const Json& entry : pod["spec"]["containers"][0]["env"]) {
    if (string_at(entry, {"name"}) == name) return string_at(entry, {"value"});
  }
  return "(unset)";
}

class Tutorial : public ::testing::Test {
 protected:
  Tutorial() {
    world_.start_operator();
    world_.apply_tutorial();
    ready_ = world_.run_until([this] { return world_.is_ready(); });
  }

  RayWorld world_;
  bool ready_ = false;
};

TEST_F(Tutorial, BecomesReadyWithTheTotalsTheTutorialShows) {
  ASSERT_TRUE(ready_) << world_.ray_cluster().dump(1);
  const Json status = world_.ray_cluster()["status"];
  EXPECT_EQ(status["desiredWorkerReplicas"], 4);
  EXPECT_EQ(status["availableWorkerReplicas"], 4);
  EXPECT_EQ(status["desiredCPU"], "40");
  EXPECT_EQ(status["desiredMemory"], "798027216Ki");
  EXPECT_EQ(status["desiredGPU"], "0");
  EXPECT_EQ(status["state"], "ready");
}

TEST_F(Tutorial, SetsTheIdentityOfEachWorkerInOneSlice) {
  ASSERT_TRUE(ready_);
  const std::vector<sim::JsonPtr> workers = world_.workers();
  ASSERT_THAT(workers, SizeIs(4));
  std::set<std::string> pools;
  std::set<std::string> hostnames;
  std::set<std::string> ids;
  std::set<std::string> lists;
  for (const sim::JsonPtr& pod : workers) {
    pools.insert(world_.pool_of(*pod));
    hostnames.insert(string_at(*pod, {"spec", "hostname"}));
    ids.insert(env_of(*pod, "TPU_WORKER_ID"));
    lists.insert(env_of(*pod, "TPU_WORKER_HOSTNAMES"));
    EXPECT_EQ(string_at(*pod, {"spec", "hostname"}), "tpu-group-0-" + env_of(*pod, "TPU_WORKER_ID"));
    EXPECT_EQ(env_of(*pod, "JAX_PLATFORMS"), "tpu") << "the user's own variables stay";
    EXPECT_EQ(env_of(*pod, "ENABLE_PJRT_COMPATIBILITY"), "true");
  }
  EXPECT_THAT(pools, SizeIs(1));
  EXPECT_EQ(hostnames, (std::set<std::string>{"tpu-group-0-0", "tpu-group-0-1", "tpu-group-0-2", "tpu-group-0-3"}));
  EXPECT_EQ(ids, (std::set<std::string>{"0", "1", "2", "3"}));
  ASSERT_THAT(lists, SizeIs(1));
  EXPECT_EQ(*lists.begin(),
            "tpu-group-0-0.maxtext-tpu-cluster-headless,tpu-group-0-1.maxtext-tpu-cluster-headless,"
            "tpu-group-0-2.maxtext-tpu-cluster-headless,tpu-group-0-3.maxtext-tpu-cluster-headless");
}

TEST_F(Tutorial, StartsTheWorkersOnlyWhenTheHeadIsReady) {
  ASSERT_TRUE(ready_);
  const Json head = *world_.pods_of(kTutorial, "head").front();
  for (const sim::JsonPtr& pod : world_.workers()) {
    EXPECT_LE(string_at(head, {"status", "startTime"}),
              string_at(*pod, {"status", "containerStatuses", "0", "state", "running", "startedAt"}));
  }
  EXPECT_THAT(world_.violations, IsEmpty());
}

TEST_F(Tutorial, DeletesAllChildren) {
  ASSERT_TRUE(ready_);
  ASSERT_TRUE(world_.cluster.remove(kRayClusters, kTutorial).ok());
  world_.run_for(1min);
  EXPECT_TRUE(world_.ray_cluster().is_null());
  EXPECT_THAT(world_.cluster.storage().list("pods"), IsEmpty());
  EXPECT_THAT(world_.cluster.storage().list("services"), IsEmpty());
  EXPECT_THAT(world_.cluster.storage().list("endpoints"), IsEmpty());
}

TEST_F(Tutorial, IsCreatedAgainUnderTheSameNameAtOnce) {
  ASSERT_TRUE(ready_);
  ASSERT_TRUE(world_.cluster.remove(kRayClusters, kTutorial).ok());
  world_.apply_tutorial();
  EXPECT_TRUE(world_.run_until([this] { return world_.is_ready(); })) << world_.ray_cluster().dump(1);
  EXPECT_THAT(world_.violations, IsEmpty());
}

TEST(TutorialTwice, UsesTheSecondSliceForTheSecondCluster) {
  RayWorld world;
  world.start_operator();
  world.apply_tutorial();
  Json second = world.ray_cluster();
  second["metadata"] = {{"name", "second"}, {"namespace", "default"}};
  second.erase("status");
  ASSERT_TRUE(world.cluster.apply(second).ok());
  const ObjectKey key{"default", "second"};
  ASSERT_TRUE(world.run_until([&] { return world.is_ready() && world.is_ready(key); }));
  std::set<std::string> first_pools;
  std::set<std::string> second_pools;
  for (const auto& pod : world.workers()) first_pools.insert(world.pool_of(*pod));
  for (const auto& pod : world.pods_of(key, "worker")) second_pools.insert(world.pool_of(*pod));
  EXPECT_THAT(first_pools, SizeIs(1));
  EXPECT_THAT(second_pools, SizeIs(1));
  EXPECT_NE(first_pools, second_pools);
}

}  // namespace
}  // namespace tpuslice::testing
