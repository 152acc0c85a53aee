#include "controllers/raycluster/workers/worker_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "tests/support/raycluster/fixtures.h"

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
    const std::string name = worker_pod_name(RayClusterSpec::read(cluster_), "g", {replica, host});
    const auto found = std::ranges::find(workers_, name, [](const auto& pod) { return pod->key.name; });
    TPUSLICE_CHECK_MSG(found != workers_.end(), name);
    return *found;
  }
  void remove(int replica, int host) {
    const auto removed = worker(replica, host);
    std::erase(workers_, removed);
  }
  WorkerDecision decide(MayCreate may_create = MayCreate::kNextAttempts) const {
    return decide_workers(RayClusterSpec::read(cluster_), workers_, may_create, options_);
  }

  /// "1/0" for the pod of replica 1, host 0, "1/0#2" for that of its attempt 2; other pods by name.
  std::string label(const std::string& pod) const {
    const auto index = parse_worker_pod_name(RayClusterSpec::read(cluster_), "g", pod);
    return index ? label(*index) : pod;
  }
  static std::string label(WorkerIndex index) {
    const std::string attempt = index.attempt == 0 ? "" : fmt::format("#{}", index.attempt);
    return fmt::format("{}/{}{}", index.replica, index.host, attempt);
  }
  std::vector<std::string> deleted() const {
    std::vector<std::string> out;
    for (const WorkerDecision::Deletion& deletion : decide().deletes) {
      for (const PodPtr& pod : deletion.pods) out.push_back(label(pod->key.name));
    }
    std::ranges::sort(out);
    return out;
  }
  std::vector<std::string> created(MayCreate may_create = MayCreate::kNextAttempts) const {
    std::vector<std::string> out;
    for (const WorkerDecision::Creation& creation : decide(may_create).creates) {
      for (const int host : creation.hosts) out.push_back(label(WorkerIndex{creation.replica, host, creation.attempt}));
    }
    std::ranges::sort(out);
    return out;
  }
  /// Why pods are deleted.
  std::vector<std::string> reasons() const {
    std::vector<std::string> out;
    for (const WorkerDecision::Deletion& deletion : decide().deletes) out.push_back(deletion.reason);
    return out;
  }

  Object cluster_;
  std::vector<std::shared_ptr<const PodView>> workers_;
  Options options_;
};

TEST_F(WorkerGroups, AreNotTouchedWhileComplete) {
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, AreCreatedAsWholeReplicas) {
  workers_.clear();
  EXPECT_THAT(created(), ElementsAre("0/0", "0/1", "1/0", "1/1"));
  EXPECT_THAT(decide().creates, SizeIs(2));
  EXPECT_THAT(created(MayCreate::kNothing), IsEmpty());
}

TEST_F(WorkerGroups, DeleteAWholeReplicaWhenOneHostFails) {
  change(worker(0, 1), [](PodView& pod) {
    pod.phase = PodPhase::kFailed;
    pod.reason = "Evicted";
  });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), IsEmpty());
  EXPECT_THAT(reasons(), ElementsAre("replica 0 of group g lost host 1 (pod failed: Evicted): deleting its 2 pods"));
}

TEST_F(WorkerGroups, CreateAReplicaAgainOnlyWhenItsLastPodIsDeleted) {
  change(worker(0, 0), [](PodView& pod) { pod.deletion = a_time(); });
  change(worker(0, 1), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 0);
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("0/0", "0/1"));
}

class GatedGroups : public WorkerGroups {
 protected:
  GatedGroups() { options_.mutation.gate = true; }

  /// Both hosts.
  void terminate(int replica) {
    for (const int host : {0, 1}) change(worker(replica, host), [](PodView& pod) { pod.deletion = a_time(); });
  }
  /// As the API server has it once it was created; gated.
  void add(WorkerIndex index) {
    const RayClusterSpec spec = RayClusterSpec::read(cluster_);
    Json pod = build_worker_pod(spec, spec.groups[0], index, options_).value().json();
    pod["metadata"]["uid"] = "uid-" + label(index);
    workers_.push_back(share(PodView::from_json(pod).value()));
  }
};

TEST_F(GatedGroups, CreateTheNextAttemptOfABrokenReplicaAtOnce) {
  change(worker(0, 1), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), ElementsAre("0/0#1", "0/1#1"));
  EXPECT_THAT(created(MayCreate::kNothing), IsEmpty());
}

TEST_F(GatedGroups, DoNotCreateTheNextAttemptWhileAQuotaHasNoRoomForIt) {
  EXPECT_FALSE(decide(MayCreate::kMissing).waits_for_deletion);
  terminate(0);
  EXPECT_THAT(created(MayCreate::kMissing), IsEmpty());
  EXPECT_TRUE(decide(MayCreate::kMissing).waits_for_deletion);
  EXPECT_FALSE(decide(MayCreate::kNothing).waits_for_deletion);
  remove(0, 0);
  remove(0, 1);
  EXPECT_THAT(created(MayCreate::kMissing), ElementsAre("0/0", "0/1"));
  EXPECT_FALSE(decide(MayCreate::kMissing).waits_for_deletion);
}

TEST_F(GatedGroups, CreateTheNextAttemptWhileTheOneBeforeTerminates) {
  terminate(0);
  EXPECT_THAT(created(), ElementsAre("0/0#1", "0/1#1"));
  add({0, 1, 1});
  EXPECT_THAT(created(), ElementsAre("0/0#1"));
  add({0, 0, 1});
  EXPECT_THAT(created(), IsEmpty());
  EXPECT_THAT(deleted(), IsEmpty());
  remove(0, 0);
  remove(0, 1);
  EXPECT_THAT(created(), IsEmpty());
  EXPECT_THAT(deleted(), IsEmpty());
}

TEST_F(GatedGroups, DoNotCompleteTheNextAttemptWhileAQuotaHasNoRoomForIt) {
  terminate(0);
  add({0, 1, 1});
  EXPECT_THAT(created(), ElementsAre("0/0#1"));
  EXPECT_THAT(created(MayCreate::kMissing), IsEmpty());
  EXPECT_TRUE(decide(MayCreate::kMissing).waits_for_deletion);
  remove(0, 0);
  remove(0, 1);
  EXPECT_THAT(created(MayCreate::kMissing), ElementsAre("0/0#1"));
}

TEST_F(GatedGroups, DoNotCompleteTheNextAttemptWithoutGatesBesideTheOneBefore) {
  terminate(0);
  add({0, 1, 1});
  options_.mutation.gate = false;
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(GatedGroups, HaveTwoAttemptsAtMost) {
  terminate(0);
  add({0, 0, 1});
  add({0, 1, 1});
  change(workers_.back(), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(deleted(), ElementsAre("0/0#1", "0/1#1"));
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 0);
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("0/0#2", "0/1#2"));
}

TEST_F(GatedGroups, AreCheckedForTheirClusterOnlyWhenPodsAreCreatedBesideTerminatingOnes) {
  EXPECT_FALSE(decide().beside_terminating);
  change(worker(1, 1), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_FALSE(decide().beside_terminating);
  terminate(0);
  EXPECT_TRUE(decide().beside_terminating);
  EXPECT_FALSE(decide(MayCreate::kNothing).beside_terminating);
  add({0, 0, 1});
  EXPECT_TRUE(decide().beside_terminating);
  EXPECT_FALSE(decide(MayCreate::kNothing).beside_terminating);
  add({0, 1, 1});
  EXPECT_FALSE(decide().beside_terminating);
}

TEST_F(GatedGroups, DeleteALivePodOfAnEarlierAttempt) {
  add({0, 0, 1});
  add({0, 1, 1});
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(reasons(), ElementsAre("replica 0 of group g was created again: deleting its 2 pods"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(GatedGroups, DeleteAllAttemptsOfASurplusReplica) {
  terminate(1);
  add({1, 0, 1});
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("1/0#1"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(GatedGroups, DoNotReplaceTheReplicaOfAWorkerToDelete) {
  terminate(0);
  add({0, 0, 1});
  group()["scaleStrategy"]["workersToDelete"] = Json::array({worker(0, 1)->key.name});
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0#1"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(GatedGroups, DeleteTheReplicaOfAWorkerToDeleteThatWasCreatedAgainBeforeItWasListed) {
  const std::string listed = worker(0, 1)->key.name;
  remove(0, 0);
  remove(0, 1);
  add({0, 0, 1});
  add({0, 1, 1});
  EXPECT_THAT(deleted(), IsEmpty());
  group()["scaleStrategy"]["workersToDelete"] = Json::array({listed});
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0#1", "0/1#1"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(GatedGroups, WaitUntilThePodsOfAnotherSliceAreDeleted) {
  terminate(0);
  change(worker(0, 1), [](PodView& pod) { pod.labels["tpuslice.dev/slice"] = "of-an-earlier-cluster"; });
  EXPECT_THAT(created(), IsEmpty());
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("0/0#1", "0/1#1"));
}

TEST_F(GatedGroups, WithoutGatesWaitUntilTheLastPodIsDeleted) {
  group()["template"]["metadata"]["annotations"]["tpuslice.dev/gating"] = "off";
  terminate(0);
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, ReplaceAReplicaOfOneHostAtOnce) {
  use(a_cluster("c", {{.name = "g", .replicas = 2, .hosts = 1, .accelerator = ""}}));
  change(worker(1, 0), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(created(), ElementsAre("1/0#1"));
  EXPECT_THAT(deleted(), IsEmpty());
}

TEST_F(WorkerGroups, OfOneHostWaitForItsPeersOfAMultislice) {
  use(a_cluster("c", {{.name = "g", .replicas = 2, .hosts = 1, .accelerator = ""}}));
  group()["template"]["spec"]["containers"][0]["env"] =
      Json::array({{{"name", "MEGASCALE_NUM_SLICES"}, {"value", "2"}}});
  change(worker(1, 0), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(created(), IsEmpty());
  remove(1, 0);
  EXPECT_THAT(created(), ElementsAre("1/0"));
}

TEST_F(WorkerGroups, DeleteAReplicaThatLostAHostAfterItStarted) {
  remove(1, 0);
  EXPECT_THAT(deleted(), ElementsAre("1/1"));
  EXPECT_THAT(reasons(), ElementsAre("replica 1 of group g lost host 0 (no such pod) of 2: deleting its pod"));
}

TEST_F(WorkerGroups, CompleteAReplicaThatHasNotStarted) {
  remove(1, 0);
  change(worker(1, 1), [](PodView& pod) { pod.phase = PodPhase::kPending; });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), ElementsAre("1/0"));
}

TEST_F(WorkerGroups, DeleteAReplicaWithTwoPodsForOneHost) {
  PodView duplicate = *worker(0, 1);
  duplicate.key.name = "duplicate";
  duplicate.uid = "uid-duplicate";
  workers_.push_back(share(duplicate));
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1", "duplicate"));
  EXPECT_THAT(reasons(), ElementsAre(HasSubstr("has two pods for host 1")));
}

TEST_F(WorkerGroups, DeleteAReplicaWithAHostBeyondNumOfHosts) {
  PodView beyond = *worker(0, 1);
  beyond.key.name = "beyond";
  beyond.uid = "uid-beyond";
  beyond.labels[std::string(kRayHostIndex)] = "2";
  workers_.push_back(share(beyond));
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1", "beyond"));
  EXPECT_THAT(reasons(), ElementsAre(HasSubstr("has host 2 (pod beyond), beyond its numOfHosts of 2")));
}

TEST_F(WorkerGroups, DeleteEveryReplicaWithAnotherNumberOfHosts) {
  group()["numOfHosts"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1", "1/0", "1/1"));
  group()["numOfHosts"] = 4;
  EXPECT_THAT(deleted(), SizeIs(4));
}

TEST_F(WorkerGroups, DeleteARemainingPodOfALargerReplica) {
  remove(0, 1);
  group()["numOfHosts"] = 1;
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "1/0", "1/1"));
}

TEST_F(WorkerGroups, DeleteAReplicaWhoseRayContainerTerminatedForGood) {
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
  EXPECT_THAT(reasons()[0], HasSubstr("container ray-worker terminated: Error"));
}

TEST_F(WorkerGroups, CreateAReplicaWhileAnotherIsBroken) {
  change(worker(0, 0), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  group()["replicas"] = 3;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), ElementsAre("2/0", "2/1"));
}

TEST_F(WorkerGroups, CreateAReplicaAtTheLowestFreeIndex) {
  remove(0, 0);
  remove(0, 1);
  EXPECT_THAT(created(), ElementsAre("0/0", "0/1"));
}

TEST_F(WorkerGroups, DeleteTheSurplusReplicaWithTheHighestIndex) {
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("1/0", "1/1"));
  EXPECT_THAT(reasons()[0], HasSubstr("is surplus, 1 of 2 replicas are desired"));
}

TEST_F(WorkerGroups, DeleteABrokenSurplusReplicaFirst) {
  group()["replicas"] = 1;
  change(worker(0, 1), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
}

TEST_F(WorkerGroups, CountATerminatingReplicaAsTheSurplusOne) {
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

TEST_F(WorkerGroups, IgnoreWorkersToDeleteThatAreNotOfTheGroup) {
  group()["scaleStrategy"]["workersToDelete"] = {"pod-of-another-owner", "c-head-abcde"};
  EXPECT_THAT(deleted(), IsEmpty());
}

TEST_F(WorkerGroups, NeverDeleteAPodOfAnotherGroupOrOwnerAsAWorkerToDelete) {
  Json json = a_cluster("c", {slice(1)});
  GroupFixture other = slice(1);
  other.name = "other";
  json["spec"]["workerGroupSpecs"].push_back(a_group(other));
  use(json);
  std::vector<std::string> names;
  for (const auto& pod : workers_) {
    if (pod->label("ray.io/group") == "other") names.push_back(pod->key.name);
  }
  ASSERT_THAT(names, SizeIs(2));
  // Not among the pods of this cluster, although its name is that of a pod of the group.
  names.push_back(worker_pod_name(RayClusterSpec::read(cluster_), "g", {1, 0}));
  group()["scaleStrategy"]["workersToDelete"] = names;
  EXPECT_THAT(deleted(), IsEmpty());
}

class AutoscaledGroups : public WorkerGroups {
 protected:
  AutoscaledGroups() { cluster_.mutable_json()["spec"]["enableInTreeAutoscaling"] = true; }
};

TEST_F(AutoscaledGroups, KeepSurplusReplicasUntilTheAutoscalerListsThem) {
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
  group()["scaleStrategy"]["workersToDelete"] = Json::array({worker(0, 1)->key.name});
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1")) << "the whole replica, and not the one with the highest index";
}

TEST_F(AutoscaledGroups, NeitherDeleteNorCompleteASurplusReplicaThatIsForming) {
  group()["replicas"] = 1;
  remove(1, 0);
  change(worker(1, 1), [](PodView& pod) { pod.phase = PodPhase::kPending; });
  EXPECT_THAT(deleted(), IsEmpty());
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(AutoscaledGroups, AreNotUpgradedWhileTheyHaveSurplusReplicas) {
  cluster_.mutable_json()["metadata"]["annotations"]["tpuslice.dev/upgrade"] = "rolling";
  group()["template"]["spec"]["containers"][0]["image"] = "rayproject/ray:next";
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), IsEmpty()) << "the deleted replica would not be created again";
}

TEST_F(AutoscaledGroups, DeleteBrokenReplicas) {
  change(worker(0, 1), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  group()["replicas"] = 1;
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
}

TEST_F(WorkerGroups, DeletePodsOfAGroupThatTheSpecLacks) {
  cluster_.mutable_json()["spec"]["workerGroupSpecs"] = Json::array();
  EXPECT_THAT(deleted(), SizeIs(4));
  EXPECT_THAT(reasons(), ElementsAre("the spec has no worker group \"g\": deleting its 4 pods"));
}

TEST_F(WorkerGroups, DeletePodsWithoutAReplicaIndex) {
  PodView stray = *worker(0, 0);
  stray.key.name = "stray";
  stray.labels.erase("ray.io/worker-group-replica-index");
  workers_.push_back(share(stray));
  EXPECT_THAT(deleted(), ElementsAre("stray"));
  EXPECT_THAT(reasons()[0], HasSubstr("without a replica index"));
}

TEST_F(WorkerGroups, DeleteAReplicaWhosePodLostItsLabels) {
  change(worker(0, 1), [](PodView& pod) { pod.labels["ray.io/worker-group-replica-index"] = "x"; });
  change(worker(0, 0), [](PodView& pod) { pod.phase = PodPhase::kPending; });
  EXPECT_THAT(deleted(), ElementsAre("0/0", "0/1"));
  EXPECT_THAT(created(), IsEmpty());
}

TEST_F(WorkerGroups, AreDeletedWhileTheGroupIsSuspended) {
  group()["suspend"] = true;
  EXPECT_THAT(deleted(), SizeIs(4));
  EXPECT_THAT(reasons(), Each(HasSubstr("the group is suspended")));
}

TEST_F(WorkerGroups, ReportATemplateWhosePodsCannotBeBuilt) {
  workers_.clear();
  group()["template"]["spec"]["hostname"] = "mine";
  const WorkerDecision out = decide();
  EXPECT_THAT(out.creates, IsEmpty());
  EXPECT_THAT(out.errors, ElementsAre(HasSubstr("spec.hostname")));
}

TEST_F(WorkerGroups, BoundReplicasByMinimumAndMaximum) {
  workers_.clear();
  group()["replicas"] = 9;
  group()["maxReplicas"] = 1;
  EXPECT_THAT(created(), SizeIs(2));
  group()["replicas"] = 0;
  group()["minReplicas"] = 1;
  EXPECT_THAT(created(), SizeIs(2));
}

TEST_F(WorkerGroups, SendThePodsOfTheBuilder) {
  GroupFixture wide = slice(3);
  wide.hosts = 16;
  wide.topology = "4x4x4";
  use(a_cluster("c", {wide}));
  workers_.clear();
  const RayClusterSpec spec = RayClusterSpec::read(cluster_);
  const WorkerDecision out = decide();
  ASSERT_THAT(out.creates, SizeIs(3));
  for (const WorkerDecision::Creation& creation : out.creates) {
    ASSERT_THAT(creation.hosts, SizeIs(16));
    for (const int host : creation.hosts) {
      const WorkerIndex index{creation.replica, host};
      const Result<Object> pod = build_worker_pod(spec, spec.groups[0], index, {});
      ASSERT_TRUE(pod.ok()) << pod.error().message();
      EXPECT_EQ(creation.builder->build(index)->json(), pod->json());
      EXPECT_EQ(creation.builder->key(index), pod->key());
    }
  }
}

TEST_F(WorkerGroups, CreateNoReplicaUnlessAllItsPodsCanBeBuilt) {
  workers_.clear();
  group()["template"]["spec"]["hostname"] = "g-0-0";  // right for one host, wrong for all others
  const WorkerDecision out = decide();
  EXPECT_THAT(out.creates, IsEmpty());
  EXPECT_THAT(out.errors, ElementsAre(HasSubstr("spec.hostname")));
}

class RollingUpgrade : public WorkerGroups {
 protected:
  // Three replicas of two hosts, built from the template before this one.
  RollingUpgrade() {
    Json json = a_cluster("c", {slice(3)});
    json["metadata"]["annotations"]["tpuslice.dev/upgrade"] = "rolling";
    use(json);
    set_image("next");
  }
  void set_image(const std::string& image) { group()["template"]["spec"]["containers"][0]["image"] = image; }
  /// Replaces a replica by one of the present template.
  void update(int replica) {
    for (int host = 0; host < 2; ++host) worker(replica, host) = share(a_worker(cluster_, "g", replica, host));
  }
  [[nodiscard]] std::vector<std::string> reasons() const {
    std::vector<std::string> out;
    for (const WorkerDecision::Deletion& deletion : decide().deletes) out.push_back(deletion.reason);
    return out;
  }
};

constexpr const char* kOutdated = "replica {} of group g was built from an earlier template: deleting its 2 pods";

TEST_F(RollingUpgrade, RecreatesOneReplicaAfterAnother) {
  EXPECT_THAT(reasons(), ElementsAre(fmt::format(fmt::runtime(kOutdated), 0)));
  update(0);
  EXPECT_THAT(reasons(), ElementsAre(fmt::format(fmt::runtime(kOutdated), 1)));
  update(1);
  update(2);
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(RollingUpgrade, WaitsUntilThePreviousReplicaIsAvailable) {
  update(0);
  change(worker(0, 1), [](PodView& pod) { pod.not_ready = true; });
  EXPECT_THAT(reasons(), IsEmpty());
  change(worker(0, 1), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(reasons(), ElementsAre(HasSubstr("lost host 1")));
}

TEST_F(RollingUpgrade, BeginsWithTheReplicaThatIsNotAvailable) {
  change(worker(2, 0), [](PodView& pod) { pod.not_ready = true; });
  EXPECT_THAT(reasons(), ElementsAre(fmt::format(fmt::runtime(kOutdated), 2)));
}

TEST_F(RollingUpgrade, ReplacesAReplicaThatATemplateInBetweenHasBroken) {
  update(0);
  change(worker(0, 0), [](PodView& pod) { pod.not_ready = true; });
  set_image("corrected");
  EXPECT_THAT(reasons(), ElementsAre(fmt::format(fmt::runtime(kOutdated), 0)));
}

TEST_F(RollingUpgrade, DeletesNothingIfItsPodsCannotBeCreatedAgain) {
  group()["template"]["spec"]["hostname"] = "mine";
  EXPECT_THAT(reasons(), IsEmpty());
  EXPECT_THAT(decide().errors, SizeIs(1));
  EXPECT_THAT(decide(MayCreate::kNothing).deletes, IsEmpty());
}

TEST_F(RollingUpgrade, CountsPodsOfAnEarlierOperatorAsCurrent) {
  for (auto& pod : workers_) {
    change(pod, [](PodView& view) { view.annotations.erase("tpuslice.dev/template-hash"); });
  }
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(RollingUpgrade, IsOnlyDoneWithTheAnnotation) {
  cluster_.mutable_json()["metadata"].erase("annotations");
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(WorkerGroups, AFormingReplicaOfAnEarlierTemplateOrClusterIsNotCompleted) {
  change(worker(0, 1), [](PodView& pod) { pod.phase = PodPhase::kPending; });
  remove(0, 0);
  group()["template"]["spec"]["containers"][0]["image"] = "next";
  EXPECT_THAT(decide().deletes[0].reason, HasSubstr("is incomplete and was built from an earlier template"));
  use(cluster_.json());
  change(worker(0, 1), [](PodView& pod) {
    pod.phase = PodPhase::kPending;
    pod.key.name = "c-g-worker-0-1-other";
  });
  remove(0, 0);
  EXPECT_THAT(decide().deletes[0].reason, HasSubstr("is incomplete and has pods of an earlier cluster"));
}

}  // namespace
}  // namespace tpuslice::raycluster
