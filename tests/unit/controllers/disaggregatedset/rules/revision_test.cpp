// Revisions of upstream's controller: k8s.io/api v0.36.3 printed the roles, whose SHA-256 this is.
#include "controllers/disaggregatedset/rules/revision.h"

#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "controllers/disaggregatedset/rules/go_order.h"

namespace tpuslice::disaggregatedset {
namespace {

constexpr const char* kSimple = R"(
spec:
  roles:
    - name: prefill
      spec:
        leaderWorkerTemplate:
          size: 1
          restartPolicy: RecreateGroupOnPodRestart
          workerTemplate: {spec: {containers: [{name: main, image: "serve:1"}]}}
    - name: decode
      spec:
        leaderWorkerTemplate:
          size: 1
          restartPolicy: Default
          workerTemplate: {spec: {containers: [{name: main, image: "serve:1"}]}}
)";

constexpr const char* kRich = R"(
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: llm, namespace: default}
spec:
  roles:
    - name: prefill
      spec:
        replicas: 2
        leaderWorkerTemplate:
          size: 4
          restartPolicy: RecreateGroupOnPodRestart
          subGroupPolicy: {subGroupPolicyType: LeaderWorker, subGroupSize: 2}
          leaderTemplate:
            metadata: {labels: {role: leader, app: "a&b<c>"}, annotations: {b: "2", a: "1"}}
            spec:
              nodeSelector: {cloud.google.com/gke-tpu-topology: 4x4, cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice}
              tolerations: [{key: tpu, operator: Exists, effect: NoSchedule}]
              affinity:
                podAntiAffinity:
                  preferredDuringSchedulingIgnoredDuringExecution:
                    - weight: 3
                      podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {x: z}}}
              volumes:
                - {name: shm, emptyDir: {medium: Memory, sizeLimit: 1024Mi}}
                - {name: config, configMap: {name: serving, items: [{key: k, path: p, mode: 420}]}}
              initContainers: [{name: setup, image: busybox, command: [sh, -c, "true"]}]
              containers:
                - name: server
                  image: vllm/vllm-tpu:v1
                  args: ["--x=1", "--y=<z>"]
                  ports: [{containerPort: 8000, name: http, protocol: TCP}, {containerPort: 9000, protocol: TCP}]
                  env:
                    - {name: A, value: b}
                    - {name: POD_IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}
                    - {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}
                  resources: {requests: {memory: 1024Mi, google.com/tpu: "4"}, limits: {google.com/tpu: 4}}
                  readinessProbe:
                    httpGet: {path: /health, port: 8000, scheme: HTTP}
                    initialDelaySeconds: 5
                    timeoutSeconds: 1
                    periodSeconds: 2
                  securityContext: {runAsUser: 0, privileged: true, capabilities: {add: [SYS_PTRACE]}}
                  volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: config, mountPath: /etc/c, readOnly: true}]
          workerTemplate:
            spec:
              hostNetwork: true
              dnsPolicy: ClusterFirstWithHostNet
              serviceAccountName: worker
              containers: [{name: worker, image: "vllm/vllm-tpu:v1", resources: {limits: {google.com/tpu: "4"}}}]
          volumeClaimTemplates:
            - metadata: {name: data}
              spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
          persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}
    - name: decode
      spec:
        replicas: 1
        leaderWorkerTemplate:
          size: 1
          restartPolicy: None
          workerTemplate:
            spec:
              topologySpreadConstraints:
                - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}
              containers: [{name: main, image: nginx, lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}}]
)";

std::string revision_of(const char* yaml) {
  const Json set = parse_yaml(yaml).value();
  return compute_revision(DisaggregatedSetSpec::read(set));
}

/// The revision after a change by JSON pointer.
std::string revision_after(const char* pointer, Json value) {
  Json set = parse_yaml(kSimple).value();
  set[Json::json_pointer(pointer)] = std::move(value);
  return compute_revision(DisaggregatedSetSpec::read(set));
}

TEST(Revision, IsThatOfUpstream) { EXPECT_EQ(revision_of(kSimple), "3a446bb2"); }

TEST(Revision, IsThatOfUpstreamForAllFieldsOfTheRecipes) { EXPECT_EQ(revision_of(kRich), "5982cfac"); }

TEST(Revision, DependsOnTheTemplatesAndNamesOfTheRoles) {
  const std::string before = revision_of(kSimple);
  EXPECT_NE(revision_after("/spec/roles/0/spec/leaderWorkerTemplate/size", 2), before);
  EXPECT_NE(revision_after("/spec/roles/0/name", "encode"), before);
  EXPECT_EQ(revision_after("/spec/roles/0/spec/replicas", 7), before);
  EXPECT_EQ(revision_after("/spec/roles/0/spec/startupPolicy", "LeaderReady"), before);
  EXPECT_EQ(revision_after("/spec/slices", 3), before);
  EXPECT_EQ(revision_after("/spec/placementPolicy", {{"type", "ExclusiveSlice"}}), before);
}

TEST(Revision, DoesNotDependOnDefaultsThatAreWrittenOut) {
  EXPECT_EQ(revision_after("/spec/roles/0/spec/leaderWorkerTemplate/leaderTemplate", nullptr), revision_of(kSimple));
}

TEST(GoOrder, MembersThatUpstreamDoesNotKnowFollow) {
  EXPECT_EQ(
      print_group_template({{"size", 1}, {"new", 2}, {"workerTemplate", {{"spec", {{"x", 1}, {"hostname", "a"}}}}}}),
      R"({"workerTemplate":{"spec":{"hostname":"a","x":1}},"size":1,"new":2})");
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
