#include "controllers/raycluster/worker_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pod_builder.h"
#include "tests/unit/controllers/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class WorkerGroups : public testing::Test {
 protected:
  // Two replicas of two hosts, all running.
  WorkerGroups() { use(a_cluster("c", {slice(2)})); }

  static GroupFixture slice(int replicas) {
    return {.name = "g", .replicas = replicas, .hosts = 2, .accelerator = "tpu-v4-podslice", .topology = "2x2x2"};
  }

  void use(const Json& json) {
    cluster_ = Object(json);
    workers_ = by_type(all_running(cluster_).pods).workers;
  }

  Json& group() { return cluster_.mutable_json()["spec"]["workerGroupSpecs"][0]; }

  std::shared_ptr<const PodView>& worker(int replica, int host) {
    const std::string name = worker_pod_name(RayClusterSpec::read(cluster_), "g", replica, host);
    const auto found = std::ranges::find(workers_, name, [](const auto& pod) { return pod->key.name; });
    TPUSLICE_CHECK_MSG(found != workers_.end(), name);
    return *found;
  }
  void remove(int replica, int host) {
    const auto gone = worker(replica, host);
    std::erase(workers_, gone);
  }
  Changes plan() const { return plan_worker_groups(RayClusterSpec::read(cluster_), workers_, {}); }

  // "1/0" for replica 1, host 0 of what is created or deleted.
  std::vector<std::string> places(const std::vector<runtime::Action>& actions) const {
    const RayClusterSpec spec = RayClusterSpec::read(cluster_);
    std::vector<std::string> out;
    for (const runtime::Action& action : actions) {
      std::string place = action.key.name;
      for (int replica = 0; replica < 6; ++replica) {
        for (int host = 0; host < 6; ++host) {
          if (worker_pod_name(spec, "g", replica, host) == action.key.name) place = fmt::format("{}/{}", replica, host);
        }
      }
      out.push_back(place);
    }
    std::ranges::sort(out);
    return out;
  }
  std::vector<std::string> deleted() const { return places(plan().deletes); }
  std::vector<std::string> created() const { return places(plan().creates); }

  Object cluster_;
  std::vector<std::shared_ptr<const PodView>> workers_;
};

TEST_F(WorkerGroups, AreLeftAloneWhenWhole) {
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, AreCreatedWhole) {
  workers_.clear();
  EXPECT_THAT(created(), ElementsAre("0/0", "0/1", "1/0", "1/1"));
  EXPECT_THAT(plan().events, SizeIs(4));  // one for each replica, and its Warning twin
}

TEST_F(WorkerGroups, TearDownAReplicaWholeWhenOneHostFails) {
  change(worker(0, 1), [](PodView& pod) {
    pod.phase = PodPhase::kFailed;
    pod.reason = "Evicted";
  });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), IsEmpty());
  EXPECT_THAT(plan().reasons,
              ElementsAre("replica 0 of group g lost host 1 (pod failed: Evicted): tearing down its 2 pods"));
}

TEST_F(WorkerGroups, DeleteOnlyThePodThatWasSeen) {
  change(worker(0, 1), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  for (const runtime::Action& action : plan().deletes) EXPECT_FALSE(action.preconditions.uid.empty());
}

TEST_F(WorkerGroups, RebuildAReplicaOnlyWhenItsLastPodIsGone) {
  change(worker(0, 0), [](PodView& pod) { pod.deletion = a_time(); });
  change(worker(0, 1), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 0);
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("0/0", "0/1"));
}

TEST_F(WorkerGroups, TearDownAReplicaThatLostAHostAfterItStarted) {
  remove(1, 0);
  EXPECT_THAT(deleted(), ElementsAre("1/1"));
  EXPECT_THAT(plan().reasons, ElementsAre("replica 1 of group g lost host 0 (no such pod) of 2: tearing down its pod"));
}

TEST_F(WorkerGroups, CompleteAReplicaThatHasNotStarted) {
  remove(1, 0);
  change(worker(1, 1), [](PodView& pod) { pod.phase = PodPhase::kPending; });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), ElementsAre("1/0"));
}

TEST_F(WorkerGroups, TearDownAReplicaWithTwoPodsForOneHost) {
  PodView twin = *worker(0, 1);
  twin.key.name = "twin";
  twin.uid = "uid-twin";
  workers_.push_back(share(twin));
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1", "twin"));
  EXPECT_THAT(plan().reasons[0], HasSubstr("has two pods for host 1"));
}

TEST_F(WorkerGroups, TearDownEveryReplicaOfAnotherSize) {
  group()["numOfHosts"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1", "1/0", "1/1"));
  group()["numOfHosts"] = 4;
  EXPECT_THAT(deleted(), SizeIs(4));
}

TEST_F(WorkerGroups, RecogniseARemnantOfALargerReplica) {
  remove(0, 1);
  group()["numOfHosts"] = 1;
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "1/0", "1/1"));
}

TEST_F(WorkerGroups, CountAnEndedRayContainerThatNobodyRestarts) {
  const auto end = [](PodView& pod) {
    pod.containers.resize(1);
    pod.containers[0].name = "ray-worker";
    pod.containers[0].terminated = true;
    pod.containers[0].terminated_reason = "Error";
  };
  change(worker(0, 0), end);
  EXPECT_THAT(deleted(), IsEmpty());  // restartPolicy Always
  change(worker(0, 0), [](PodView& pod) { pod.restart_policy = "Never"; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(plan().reasons[0], HasSubstr("container ray-worker ended: Error"));
}

TEST_F(WorkerGroups, DoNotLetOneBrokenReplicaHoldUpAnother) {
  change(worker(0, 0), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  group()["replicas"] = 3;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), ElementsAre("2/0", "2/1"));
}

TEST_F(WorkerGroups, FillTheLowestFreeIndex) {
  remove(0, 0);
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("0/0", "0/1"));
}

TEST_F(WorkerGroups, ShrinkByTheHighestIndex) {
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("1/0", "1/1"));
  EXPECT_THAT(plan().reasons[0], HasSubstr("is not wanted, 1 of 2 are"));
}

TEST_F(WorkerGroups, ShrinkByTheBrokenReplicaFirst) {
  group()["replicas"] = 1;
  change(worker(0, 1), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
}

TEST_F(WorkerGroups, NeverTakeAHealthyReplicaForOneThatIsAlreadyGoing) {
  group()["replicas"] = 1;
  change(worker(1, 0), [](PodView& pod) { pod.deletion = a_time(); });
  change(worker(1, 1), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, DeleteTheReplicaOfAWorkerToDelete) {
  group()["scaleStrategy"]["workersToDelete"] = Json::array({worker(0, 1)->key.name});
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, DoNotReuseTheNamesOfWorkersToDelete) {
  group()["scaleStrategy"]["workersToDelete"] = Json::array({worker(0, 1)->key.name});
  remove(0, 0);
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("2/0", "2/1"));
}

TEST_F(WorkerGroups, IgnoreWorkersToDeleteOfOthers) {
  group()["scaleStrategy"]["workersToDelete"] = {"somebody-elses-pod", "c-head-abcde"};
  EXPECT_THAT(deleted(), IsEmpty());
}

TEST_F(WorkerGroups, DeletePodsOfAGroupThatIsGone) {
  cluster_.mutable_json()["spec"]["workerGroupSpecs"] = Json::array();
  EXPECT_THAT(plan().deletes, SizeIs(4));
  EXPECT_THAT(plan().reasons, ElementsAre("the spec has no worker group \"g\": deleting its 4 pods"));
}

TEST_F(WorkerGroups, DeletePodsWithoutAReplicaIndex) {
  PodView stray = *worker(0, 0);
  stray.key.name = "stray";
  stray.labels.erase("ray.io/worker-group-replica-index");
  workers_.push_back(share(stray));
  EXPECT_THAT(deleted(), ElementsAre("stray"));
  EXPECT_THAT(plan().reasons[0], HasSubstr("without a replica index"));
}

TEST_F(WorkerGroups, RebuildAReplicaWhosePodLostItsLabels) {
  change(worker(0, 1), [](PodView& pod) { pod.labels["ray.io/worker-group-replica-index"] = "x"; });
  change(worker(0, 0), [](PodView& pod) { pod.phase = PodPhase::kPending; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, AreEmptiedBySuspension) {
  group()["suspend"] = true;
  EXPECT_THAT(deleted(), SizeIs(4));
  EXPECT_THAT(plan().reasons, Each(HasSubstr("the group is suspended")));
}

TEST_F(WorkerGroups, ReportATemplateThatCannotBecomeASlice) {
  workers_.clear();
  group()["template"]["spec"]["hostname"] = "mine";
  const Changes out = plan();
  EXPECT_THAT(out.creates, IsEmpty());
  EXPECT_THAT(out.refused, ElementsAre(HasSubstr("spec.hostname")));
}

TEST_F(WorkerGroups, ReplicasAreKeptBetweenMinimumAndMaximum) {
  workers_.clear();
  group()["replicas"] = 9;
  group()["maxReplicas"] = 1;
  EXPECT_THAT(created(), SizeIs(2));
  group()["replicas"] = 0;
  group()["minReplicas"] = 1;
  EXPECT_THAT(created(), SizeIs(2));
}

TEST_F(WorkerGroups, SendThePodsThatTheBuilderMakes) {
  GroupFixture wide = slice(3);
  wide.hosts = 16;
  wide.topology = "4x4x4";
  use(a_cluster("c", {wide}));
  workers_.clear();
  const RayClusterSpec spec = RayClusterSpec::read(cluster_);
  const Changes out = plan();
  ASSERT_THAT(out.creates, SizeIs(48));
  for (int place = 0; place < 48; ++place) {
    const runtime::Action& create = out.creates[static_cast<std::size_t>(place)];
    const Result<Object> pod = build_worker_pod(spec, spec.groups[0], {place / 16, place % 16}, {});
    ASSERT_TRUE(pod.ok()) << pod.error().message();
    EXPECT_EQ(create.body.make().value(), pod->json());
    EXPECT_EQ(create.key, pod->key());
  }
}

TEST_F(WorkerGroups, BeginNoReplicaWhosePodsCannotAllBeMade) {
  workers_.clear();
  group()["template"]["spec"]["hostname"] = "g-0-0";  // right for one host, wrong for all others
  const Changes out = plan();
  EXPECT_THAT(out.creates, IsEmpty());
  EXPECT_THAT(out.refused, ElementsAre(HasSubstr("spec.hostname")));
}

}  // namespace
}  // namespace tpuslice::raycluster
