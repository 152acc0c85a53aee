#include "controllers/raycluster/raycluster_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::HasSubstr;

Json status(const RayClusterObserved& seen) {
  const RayClusterState state(seen);
  return build_status({state});
}

Json condition(const Json& status, std::string_view type) {
  const Json* found = find_condition(status["conditions"], type);
  return found == nullptr ? Json() : *found;
}

void remember(RayClusterObserved& seen, Json status) { edit(seen.cluster)["status"] = std::move(status); }

TEST(Status, OfTheTutorialHasUpstreamsFields) {
  const Json seen = status(all_running(Object(tutorial_cluster())));
  EXPECT_EQ(seen["desiredWorkerReplicas"], 4);
  EXPECT_EQ(seen["availableWorkerReplicas"], 4);
  EXPECT_EQ(seen["readyWorkerReplicas"], 4);
  EXPECT_EQ(seen["desiredCPU"], "40");
  EXPECT_EQ(seen["desiredMemory"], "798027216Ki");
  EXPECT_EQ(seen["desiredGPU"], "0");
  EXPECT_EQ(seen["desiredTPU"], "16");
  EXPECT_EQ(seen["state"], "ready");
  EXPECT_EQ(seen["stateTransitionTimes"], Json({{"ready", "2026-01-01T00:00:00Z"}}));
  EXPECT_EQ(seen["maxWorkerReplicas"], 2147483647);
  EXPECT_EQ(seen["observedGeneration"], 1);
  EXPECT_EQ(seen["endpoints"],
            Json({{"client", "10001"}, {"dashboard", "8265"}, {"gcs-server", "6379"}, {"metrics", "8080"}}));
}

TEST(Status, LeavesOutCountsThatAreZero) {
  const Json seen = status(nothing_yet(Object(tutorial_cluster())));
  for (const char* name :
       {"availableWorkerReplicas", "readyWorkerReplicas", "minWorkerReplicas", "state", "endpoints"}) {
    EXPECT_FALSE(seen.contains(name)) << name;
  }
  EXPECT_EQ(seen["head"], Json::object());
}

TEST(Status, HasAddressAndServiceOfTheHead) {
  const RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  EXPECT_EQ(status(seen)["head"], Json({{"podIP", "10.0.0.9"},
                                        {"podName", seen.pods[0]->key.name},
                                        {"serviceIP", "10.0.0.9"},
                                        {"serviceName", "maxtext-tpu-cluster-head-svc"}}));
}

TEST(Status, DoesNotChangeWithTimeAlone) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  const Json first = status(seen);
  remember(seen, first);
  seen.now += std::chrono::hours(1);
  EXPECT_EQ(status(seen), first);
}

TEST(Status, UpdatesItsTimeWhenSomethingElseChanges) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  remember(seen, status(seen));
  seen.now += std::chrono::hours(1);
  change(seen.pods[1], [](PodView& pod) { pod.ready = false, pod.not_ready = true; });
  const Json after = status(seen);
  EXPECT_EQ(after["lastUpdateTime"], "2026-01-01T01:00:00Z");
  EXPECT_EQ(after["readyWorkerReplicas"], 3);
}

TEST(Status, DoesNotCountTerminatingPods) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  PodView before = *seen.pods.back();
  before.key.name += "-before";
  before.deletion = a_time();
  seen.pods.push_back(share(before));
  EXPECT_EQ(status(seen)["state"], "ready");
  EXPECT_EQ(status(seen)["availableWorkerReplicas"], 4);
  EXPECT_EQ(status(seen)["readyWorkerReplicas"], 4);
  change(seen.pods[1], [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_FALSE(status(seen).contains("state"));
  EXPECT_EQ(status(seen)["availableWorkerReplicas"], 3);
}

TEST(Status, IsReadyIfAPodHasNoReadyCondition) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change(seen.pods[1], [](PodView& pod) { pod.ready = false; });
  EXPECT_EQ(status(seen)["state"], "ready");
  EXPECT_EQ(status(seen)["readyWorkerReplicas"], 3);
  change(seen.pods[1], [](PodView& pod) { pod.not_ready = true; });
  EXPECT_FALSE(status(seen).contains("state"));
}

TEST(Status, StaysReadyAsUpstream) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  remember(seen, status(seen));
  seen.pods.pop_back();
  const Json after = status(seen);
  EXPECT_EQ(after["state"], "ready");
  EXPECT_EQ(condition(after, "RayClusterProvisioned")["status"], "True");
}

TEST(Status, KeepsUnknownMembers) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  remember(seen, {{"custom", 1}});
  EXPECT_EQ(status(seen)["custom"], 1);
}

TEST(Status, SaysWhyTheHeadIsNotReady) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change(seen.pods[0], [](PodView& pod) {
    pod.ready = false;
    pod.ready_reason = "ContainersNotReady";
    pod.ready_message = "containers with unready status: [ray-head]";
    pod.containers.resize(1);
    pod.containers[0].name = "ray-head";
    pod.containers[0].waiting_reason = "ImagePullBackOff";
    pod.containers[0].waiting_message = "no such image";
  });
  const Json head = condition(status(seen), "HeadPodReady");
  EXPECT_EQ(head["status"], "False");
  EXPECT_EQ(head["reason"], "ImagePullBackOff");
  EXPECT_EQ(head["message"], "containers with unready status: [ray-head]; ray-head: no such image");
  change(seen.pods[0], [](PodView& pod) {
    pod.containers[0].waiting_reason = "";
    pod.containers[0].terminated = true;
    pod.containers[0].terminated_reason = "OOMKilled";
    pod.containers[0].exit_code = 137;
  });
  EXPECT_EQ(condition(status(seen), "HeadPodReady")["reason"], "OOMKilled");
  EXPECT_EQ(condition(status(seen), "HeadPodReady")["message"],
            "containers with unready status: [ray-head]; ray-head: OOMKilled, exit code 137");
  EXPECT_EQ(condition(status(nothing_yet(seen.cluster)), "HeadPodReady")["reason"], "HeadPodNotFound");
}

TEST(Status, NamesAContainerThatCannotStartOfHeadAndWorkers) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change(seen.pods[0], [](PodView& pod) { pod.stuck = "container ray-head: CrashLoopBackOff: Error, exit code 1"; });
  const Json started = condition(status(seen), "tpuslice.dev/ContainersStarted");
  EXPECT_EQ(started["reason"], "ContainersStuck");
  EXPECT_EQ(started["message"],
            fmt::format("pod {}: container ray-head: CrashLoopBackOff: Error, exit code 1", seen.pods[0]->key.name));
}

TEST(Status, HasReplicaFailureUntilAPlanSucceeds) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  seen.last_failure = plan::Failure{"FailedCreateWorkerPod", "exceeded quota: pods=5"};
  Json now = status(seen);
  EXPECT_EQ(condition(now, "ReplicaFailure")["reason"], "FailedCreateWorkerPod");
  EXPECT_THAT(condition(now, "ReplicaFailure")["message"].get<std::string>(), HasSubstr("quota"));
  EXPECT_FALSE(now.contains("state"));
  remember(seen, now);
  seen.last_failure.reset();
  now = status(seen);
  EXPECT_TRUE(condition(now, "ReplicaFailure").is_null());
}

TEST(Status, AlwaysHasTheConditionsOfOurs) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  Json now = status(seen);
  for (const char* type : {"Accepted", "ServicesReady", "ChildrenReady", "SlicesPlaced", "ContainersStarted"}) {
    const Json own = condition(now, fmt::format("tpuslice.dev/{}", type));
    EXPECT_EQ(own["status"], "True") << type;
    EXPECT_EQ(own["reason"], type);
    EXPECT_EQ(own["observedGeneration"], 1) << type;
  }
  remember(seen, now);
  edit(seen.cluster)["metadata"]["generation"] = 2;
  const RayClusterState state(seen);
  now = build_status({state, {"InvalidSpec", "no container"}, {"ServicesPending", "service head is being created"}});
  EXPECT_EQ(condition(now, plan::kAccepted)["status"], "False");
  EXPECT_EQ(condition(now, plan::kAccepted)["message"], "no container");
  EXPECT_EQ(condition(now, kServicesReady)["reason"], "ServicesPending");
  EXPECT_EQ(condition(now, kServicesReady)["observedGeneration"], 2);
}

// kubectl wait ignores conditions with an old observedGeneration, whatever their status.
TEST(Status, HasConditionsOfThePresentGeneration) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  const auto with_phase = [&](SuspendPhase phase) {
    RayClusterState state(seen);
    state.phase = phase;
    return build_status({state});
  };
  remember(seen, with_phase(SuspendPhase::kRunning));
  std::int64_t generation = 1;
  for (const SuspendPhase phase : {SuspendPhase::kRunning, SuspendPhase::kRequested, SuspendPhase::kPodsDeleted,
                                   SuspendPhase::kSuspended, SuspendPhase::kRunning}) {
    edit(seen.cluster)["metadata"]["generation"] = ++generation;
    remember(seen, with_phase(phase));
    for (const Json& each : seen.cluster.json()["status"]["conditions"]) {
      EXPECT_EQ(each["observedGeneration"], generation) << each;
    }
  }
}

TEST(Status, OfARefusedSpecKeepsConditionsAndAddsTheMissingOnes) {
  RayClusterObserved seen = nothing_yet(Object(tutorial_cluster()));
  const Problem refusal{"InvalidSpec", "no container"};
  Json now = refused_status(RayClusterState(seen), refusal);
  EXPECT_EQ(condition(now, plan::kAccepted)["reason"], "InvalidSpec");
  EXPECT_EQ(condition(now, kServicesReady)["reason"], "NotAccepted");
  seen = all_running(seen.cluster);
  remember(seen, status(seen));
  now = refused_status(RayClusterState(seen), refusal);
  EXPECT_EQ(condition(now, kServicesReady)["status"], "True");
}

TEST(Status, CountsReplicasAsWrittenInResourcesAsUpstream) {
  Json json = a_cluster("c", {{.name = "g", .replicas = 5, .hosts = 1, .accelerator = ""}});
  json["spec"]["workerGroupSpecs"][0]["maxReplicas"] = 2;
  const Json now = status(nothing_yet(Object(json)));
  EXPECT_EQ(now["desiredCPU"], "7");
  EXPECT_EQ(now["desiredMemory"], "14Gi");
  EXPECT_EQ(now["desiredWorkerReplicas"], 2);
}

TEST(Status, CountsNothingForSuspendedGroups) {
  Json json = a_cluster("c", {{.name = "g", .replicas = 5, .hosts = 1, .accelerator = ""}});
  json["spec"]["workerGroupSpecs"][0]["suspend"] = true;
  const Json now = status(nothing_yet(Object(json)));
  EXPECT_EQ(now["desiredCPU"], "2");
  EXPECT_FALSE(now.contains("desiredWorkerReplicas"));
}

}  // namespace
}  // namespace tpuslice::raycluster
