// Workloads with the fields of the samples in Kueue's documentation ("Run a JobSet", "Run LeaderWorkerSet", "Run a
// RayCluster", "Topology Aware Scheduling"). They need no TPUs: our controllers serve them while Kueue holds and
// admits.
#include <algorithm>

#include <fmt/format.h>

#include "api/types/yaml.h"
#include "tests/e2e/kueue/kueue_plane.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {generateName: sleep-}
spec:
  network: {enableDNSHostnames: false, subdomain: sleepers}
  replicatedJobs:
    - name: workers
      replicas: 2
      template:
        spec:
          parallelism: 4
          completions: 4
          backoffLimit: 0
          template:
            spec:
              containers:
                - {name: main, image: example, command: [wait], args: [1m],
                   resources: {requests: {cpu: 1, memory: 200Mi}}}
    - name: driver
      template:
        spec:
          parallelism: 1
          completions: 1
          backoffLimit: 0
          template:
            spec:
              containers:
                - {name: main, image: example, command: [wait], args: [1m],
                   resources: {requests: {cpu: 2, memory: 200Mi}}}
)";

constexpr const char* kTopologyJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: one-rack}
spec:
  replicatedJobs:
    - name: workers
      replicas: 1
      template:
        spec:
          parallelism: 4
          completions: 4
          backoffLimit: 0
          template:
            metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: cloud.google.com/gke-nodepool}}
            spec:
              containers:
                - {name: main, image: example, command: [wait], args: [1m],
                   resources: {requests: {cpu: 1, memory: 200Mi}}}
)";

constexpr const char* kLeaderWorkerSet = R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate:
      spec:
        containers: [{name: leader, image: example, resources: {requests: {cpu: 100m}}, ports: [{containerPort: 80}]}]
    workerTemplate:
      spec:
        containers: [{name: worker, image: example, resources: {requests: {cpu: 200m}}, ports: [{containerPort: 80}]}]
)";

// Its ports have no protocol: the CRD sets the default, as Kueue's Workload does, so that Kueue finds them equal.
constexpr const char* kRayCluster = R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: complete, labels: {controller-tools.k8s.io: "1.0"}}
spec:
  rayVersion: 2.9.0
  headGroupSpec:
    serviceType: ClusterIP
    rayStartParams: {dashboard-host: 0.0.0.0}
    template:
      metadata: {labels: {}}
      spec:
        containers:
          - name: head
            image: example
            ports:
              - {name: gcs, containerPort: 6379}
              - {name: dashboard, containerPort: 8265}
              - {name: client, containerPort: 10001}
            lifecycle: {preStop: {exec: {command: [ray, stop]}}}
            volumeMounts: [{name: logs, mountPath: /tmp/ray}]
            resources: {limits: {cpu: 1, memory: 2G}, requests: {cpu: 1, memory: 2G}}
        volumes: [{name: logs, emptyDir: {}}]
  workerGroupSpecs:
    - groupName: small
      replicas: 1
      minReplicas: 1
      maxReplicas: 10
      rayStartParams: {}
      template:
        spec:
          containers:
            - name: worker
              image: example
              lifecycle: {preStop: {exec: {command: [ray, stop]}}}
              volumeMounts: [{name: logs, mountPath: /tmp/ray}]
              resources: {limits: {cpu: 1, memory: 1G}, requests: {cpu: 1, memory: 1G}}
          volumes: [{name: logs, emptyDir: {}}]
)";

class KueueSamples : public KueueTest {
 protected:
  /// Creates it in a new queue that admits nothing, expects that it waits, and lets the queue admit. Its name is in
  /// `name_`. `pods`: its number of pods, which are all that the namespace has.
  void start(WorkloadKind kind, Json object, const QueueOptions& options, std::size_t pods) {
    kind_ = kind;
    create(make_cpu_queue(options));
    object["metadata"]["namespace"] = "default";
    object["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = options.name;
    const auto created = client().create(type_of(kind), Object(object));
    ASSERT_TRUE(created.ok()) << created.error().message();
    name_ = created->name();
    expect_held(pods);
    const auto started = client().patch(kClusterQueues, {"", options.name}, client::PatchType::kMerge,
                                        {{"spec", {{"stopPolicy", "None"}}}}, {});
    ASSERT_TRUE(started.ok()) << started.error().message();
    expect_pods_run(pods);
    expect_condition(name_, "Admitted", "True");
    expect_condition(name_, "PodsReady", "True");
  }

  void expect_pods_run(std::size_t pods) {
    std::string found;
    const bool running = eventually(
        [&] {
          const std::vector<Json> all = live_pods();
          found.clear();
          for (const Json& pod : all) {
            found += fmt::format("{} {}\n", string_at(pod, {"metadata", "name"}), string_at(pod, {"status", "phase"}));
          }
          return all.size() == pods && std::ranges::all_of(all, [](const Json& pod) {
                   return string_at(pod, {"status", "phase"}) == "Running";
                 });
        },
        kLimit);
    EXPECT_TRUE(running) << pods << " pods of " << name_ << " should run: " << found;
  }

  void patch(const Json& change) {
    const auto patched = client().patch(type_of(kind_), {"default", name_}, client::PatchType::kMerge, change, {});
    ASSERT_TRUE(patched.ok()) << patched.error().message();
  }

  Json object() {
    const auto found = client().get(type_of(kind_), {"default", name_});
    return found.ok() ? found->json() : Json();
  }

  void complete_pods() {
    const Json change = {{"metadata", {{"annotations", {{"sim.tpuslice.dev/complete-after", "1ms"}}}}}};
    for (const Json& pod : live_pods()) {
      const ObjectKey key{"default", string_at(pod, {"metadata", "name"})};
      const auto patched = client().patch(kPods, key, client::PatchType::kMerge, change, {});
      EXPECT_TRUE(patched.ok()) << patched.error().message();
    }
  }

  std::string name_;

 private:
  /// Kueue has suspended it, or holds all its pods with a gate; none has a node.
  void expect_held(std::size_t pods) {
    expect_without_quota(name_);
    if (kind_ != WorkloadKind::kLeaderWorkerSet) {
      EXPECT_TRUE(bool_at(object(), {"spec", "suspend"}));
      EXPECT_EQ(live_pods().size(), 0U);
      return;
    }
    const bool gated = eventually([&] {
      const std::vector<Json> all = live_pods();
      return all.size() == pods && std::ranges::all_of(all, [](const Json& pod) {
               return !array_at(pod, {"spec", "schedulingGates"}).empty() &&
                      string_at(pod, {"spec", "nodeName"}).empty();
             });
    });
    EXPECT_TRUE(gated) << "pods of " << name_ << " are not held";
  }

  std::vector<Json> live_pods() {
    std::vector<Json> found;
    const auto list = client().list(kPods, {.namespace_name = "default"}, {});
    if (!list) return found;
    for (const std::string& text : list->items) {
      Json pod = Json::parse(text);
      const std::string phase = string_at(pod, {"status", "phase"});
      if (phase == "Failed" || phase == "Succeeded" || find_path(pod, {"metadata", "deletionTimestamp"})) continue;
      found.push_back(std::move(pod));
    }
    return found;
  }

  WorkloadKind kind_ = WorkloadKind::kJobSet;
};

TEST_F(KueueSamples, JobSetWithWorkersAndDriverRunsAndCompletes) {
  start(WorkloadKind::kJobSet, parse_yaml(kJobSet).value(), {.name = "sample-jobset", .hold = true}, 9);
  complete_pods();
  EXPECT_TRUE(eventually([&] {
    return string_at(object(), {"status", "terminalState"}) == "Completed";
  })) << object().dump();
  expect_condition(name_, "Finished", "True");
}

TEST_F(KueueSamples, JobSetInOneTopologyDomainRuns) {
  start(WorkloadKind::kJobSet, parse_yaml(kTopologyJobSet).value(),
        {.name = "sample-topology-jobset", .topology_aware = true, .hold = true}, 4);
}

TEST_F(KueueSamples, LeaderWorkerSetRunsAndScales) {
  start(WorkloadKind::kLeaderWorkerSet, parse_yaml(kLeaderWorkerSet).value(), {.name = "sample-lws", .hold = true}, 6);
  EXPECT_EQ(kueue_workloads(name_).size(), 2U) << "one for each group";
  patch({{"spec", {{"replicas", 3}}}});
  expect_pods_run(9);
  patch({{"spec", {{"replicas", 1}}}});
  expect_pods_run(3);
}

TEST_F(KueueSamples, LeaderWorkerSetInOneTopologyDomainForEachGroupRuns) {
  Json object = parse_yaml(kLeaderWorkerSet).value();
  for (const char* part : {"leaderTemplate", "workerTemplate"}) {
    object["spec"]["leaderWorkerTemplate"][part]["metadata"]["annotations"] = {
        {kRequiredTopology, "cloud.google.com/gke-nodepool"}, {"kueue.x-k8s.io/podset-group-name", "group"}};
  }
  start(WorkloadKind::kLeaderWorkerSet, std::move(object),
        {.name = "sample-topology-lws", .topology_aware = true, .hold = true}, 6);
}

TEST_F(KueueSamples, RayClusterRunsIsSuspendedAndResumed) {
  start(WorkloadKind::kRayCluster, parse_yaml(kRayCluster).value(), {.name = "sample-ray", .hold = true}, 2);
  EXPECT_TRUE(eventually([&] { return string_at(object(), {"status", "state"}) == "ready"; })) << object().dump();
  // HoldAndDrain evicts what is admitted.
  const auto stop = [&](const char* policy) {
    const auto patched = client().patch(kClusterQueues, {"", "sample-ray"}, client::PatchType::kMerge,
                                        {{"spec", {{"stopPolicy", policy}}}}, {});
    ASSERT_TRUE(patched.ok()) << patched.error().message();
  };
  stop("HoldAndDrain");
  expect_pods_run(0);
  EXPECT_TRUE(bool_at(object(), {"spec", "suspend"}));
  stop("None");
  expect_pods_run(2);
}

}  // namespace
}  // namespace tpuslice::testing
