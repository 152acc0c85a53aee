// The commands of the pages for those who run the operator, with workloads that run, wait, and have lost a host.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "tests/e2e/docs/docs_plane.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kTeam = "team-a";  // The namespace of docs/observability.md.
/// Of docs/slices.md; every waiting reason is written after some seconds.
constexpr const char* kReasonOfThird =
    R"(kubectl get raycluster third -o jsonpath='{.status.conditions[?(@.type=="tpuslice.dev/SlicesPlaced")].message}')";
/// Definitions without a schema, as the Prometheus Operator has them.
constexpr const char* kMonitoringKinds = R"(
for kind in ServiceMonitor PrometheusRule; do
  plural=$(echo "${kind}s" | tr A-Z a-z)
  kubectl apply -f - <<Y
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $plural.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: $kind, plural: $plural}
  scope: Namespaced
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
Y
done
kubectl wait --for=condition=Established crd/servicemonitors.monitoring.coreos.com crd/prometheusrules.monitoring.coreos.com)";

/// Two pools of v5p, a and b.
std::vector<sim::NodePool> small_fleet() {
  std::vector<sim::NodePool> pools;
  for (const char* name : {"a", "b"}) {
    sim::NodePool pool;
    pool.name = name;
    pool.accelerator = "tpu-v5p-slice";
    pool.topology = "2x2x4";
    pool.machine_type = "ct5p-hightpu-4t";
    pool.hosts = kHostsOfSlice;
    pool.chips_per_host = 4;
    pools.push_back(std::move(pool));
  }
  return pools;
}

/// A RayCluster with a slice of v5p.
std::string small_cluster(const std::string& name) {
  std::string manifest = workload_named("raycluster", name);
  RE2::GlobalReplace(&manifest, "tpu-v6e-slice", "tpu-v5p-slice");
  RE2::GlobalReplace(&manifest, "\\b4x4\\b", "2x2x4");
  return manifest;
}

/// A pod with TPUs that is on no node.
constexpr const char* kEarlyPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: early}
spec:
  nodeSelector: {example.com/is: nowhere}
  containers:
    - {name: main, image: example, resources: {limits: {google.com/tpu: "4"}}}
)";

class ClusterPages : public DocsPlane {
 protected:
  void install() {
    apply_here(kEarlyPod);
    pages().run_section("README.md", "## Install it");
    ASSERT_FALSE(HasFailure());
    ASSERT_NO_FATAL_FAILURE(start_operator(kOperatorNamespace, true));
    pages().expect(commands_of_section("docs/install.md", "### Pods from before the installation").at(0),
                   "^team-a early$");
    pages().run_section("docs/install.md", "### Pods from before the installation");
    wait_until("kubectl delete pod early");
  }

  /// While workloads run: their pods stay.
  void upgrade() {
    const auto before = running_pods();
    stop_operator();
    restore_webhooks();
    pages().expect("kubectl -n tpu-slice-system rollout status deployment/tpu-slice-operator",
                   "successfully rolled out");
    pages().run_section("docs/upgrade.md", "## Between versions of the operator");
    ASSERT_FALSE(HasFailure());
    ASSERT_NO_FATAL_FAILURE(start_operator(kOperatorNamespace, true));
    EXPECT_EQ(running_pods(), before);
  }

  void start_workloads() {
    ASSERT_TRUE(plane().add_pools(small_fleet()).ok());
    wait_until("kubectl cordon a-3");
    apply_here(small_cluster("second"));
    apply_here(workload_named("raycluster", "train"));
    apply_here(workload_named("rayjob", "attempt"));
    apply_here(workload_named("jobset", "multislice"));
    apply_here(workload_named("leaderworkerset", "server"));
    ASSERT_NO_FATAL_FAILURE(wait_running(5 * kHostsOfSlice));
    apply_here(small_cluster("third"));
  }

  /// A host is lost, an object is refused.
  void make_events() {
    const std::string host = "ray.io/cluster=train,ray.io/replica-host-index=2";
    EXPECT_EQ(pages().run("kubectl delete pod -l " + host).exit_code, 0);
    std::string invalid = workload_named("raycluster", "invalid");
    RE2::Replace(&invalid, "numOfHosts: 4", "numOfHosts: 3");
    ASSERT_TRUE(write_private_file(pages().directory() + "/invalid.yaml", invalid).ok());
    const CommandResult refused = pages().run("kubectl apply -f invalid.yaml");
    EXPECT_THAT(refused.text, HasSubstr("The RayCluster \"invalid\" is invalid: spec.workerGroupSpecs[0].numOfHosts"));
    ASSERT_NO_FATAL_FAILURE(wait_running(5 * kHostsOfSlice));
    wait_until("kubectl get pods -l " + host + " -o name | grep .");
  }

  /// Kubelets and addresses are replaced; all else is run as it stands.
  void replace_addresses() {
    // Of all pods and lines; by default kubectl prints ten lines of pods with a label, and one pod of a Deployment.
    pages().replace(
        "kubectl -n tpu-slice-system logs (-l app.kubernetes.io/name=tpu-slice-operator --tail=-1|<pod> "
        "--previous --tail=20)( --prefix)?",
        "cat " + operator_log());
    pages().replace("localhost:8081", fmt::format("127.0.0.1:{}", health_port()));
    pages().replace("localhost:8443", fmt::format("127.0.0.1:{}", metrics_port()));
    const CommandResult id =
        pages().run(fmt::format("jq -r 'select(.reconcileID) | .reconcileID' {} | head -n 1", operator_log()));
    pages().replace("6f0c0a44-58a9-4b0e-9c9b-0a7f3d0f8f8e", trimmed(id.text));
    pages().replace("default/", std::string(kTeam) + "/");
    for (const auto& [placeholder, name] :
         {std::pair("raycluster <name>", "raycluster train"),
          std::pair("ray.io/cluster=<name>", "ray.io/cluster=train"), std::pair("rayjob <name>", "rayjob attempt"),
          std::pair("from-cr-name=<name>", "from-cr-name=attempt"), std::pair("jobset <name>", "jobset multislice"),
          std::pair("jobset-name=<name>", "jobset-name=multislice"), std::pair("lws <name>", "lws server"),
          std::pair("sigs.k8s.io/name=<name>", "sigs.k8s.io/name=server")}) {
      pages().replace(placeholder, name);
    }
  }

  /// The record of preemptions that docs/slices.md shows; this operator does not preempt.
  void record_preemptions() {
    for (const PageCommand& command : commands_of_page("docs/slices.md")) {
      if (command.text.find("configmap -n tpu-slice-system tpu-slice-preemptions") == std::string::npos) continue;
      apply_here(fmt::format(
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: tpu-slice-preemptions, namespace: {}}}\ndata: {}\n",
          kOperatorNamespace, trimmed(command.output)));
    }
  }

  /// The Role and RoleBinding of docs/operations.md, for the namespace of the pages.
  void grant_tokens() {
    const auto roles = block_of_section("docs/operations.md", "## Permissions", "yaml");
    ASSERT_TRUE(roles.ok()) << roles.error().message();
    apply_here(*roles);
    wait_until("kubectl auth can-i get secrets --as=system:serviceaccount:tpu-slice-system:tpu-slice-operator");
  }

  void observe();
  void remove();
};

void ClusterPages::observe() {
  const std::string curl =
      "curl --cacert ca.crt --connect-to ::localhost:8443 -H \"Authorization: Bearer $(kubectl -n monitoring create "
      "token prometheus-k8s)\" \\\n  https://tpu-slice-operator-metrics.tpu-slice-system.svc:8443/metrics";
  pages().expect(curl, "^tpuslice_slices_waiting");
  const std::string fleet =
      "curl --cacert ca.crt --connect-to ::localhost:8443 -H \"Authorization: Bearer $(kubectl -n monitoring create "
      "token prometheus-k8s)\" \\\n  'https://tpu-slice-operator-metrics.tpu-slice-system.svc:8443/fleet/v1/"
      "snapshot?namespace=team-a&nodes=1'";
  pages().before(fleet,
                 "kubectl auth can-i get /fleet/v1/snapshot --as=system:serviceaccount:monitoring:prometheus-k8s");
  pages().expect(fleet, "tpuslice.dev/fleet.v1");
  const std::string keys =
      "curl --cacert ca.crt --connect-to ::localhost:8443 -H \"Authorization: Bearer $(kubectl -n tpu-slice-system "
      "create "
      "token tpu-slice-debug)\" \\\n  'https://tpu-slice-operator-metrics.tpu-slice-system.svc:8443/debug/"
      "keys?controller=raycluster&name=train'";
  pages().before(keys,
                 "kubectl auth can-i get /debug/keys --as=system:serviceaccount:tpu-slice-system:tpu-slice-debug");
  pages().expect(keys, "\"name\": \"train\"");
  const std::string level =
      "curl --cacert ca.crt --connect-to ::localhost:8443 -H \"Authorization: Bearer $(kubectl -n tpu-slice-system "
      "create "
      "token tpu-slice-debug)\" \\\n  -X PUT -d debug https://tpu-slice-operator-metrics.tpu-slice-system.svc:8443/"
      "debug/log-level";
  pages().before(level,
                 "kubectl auth can-i put /debug/log-level --as=system:serviceaccount:tpu-slice-system:tpu-slice-debug");
  pages().expect(level, "^debug$");
  pages().expect("curl -s localhost:8081/readyz", "^ok");
  pages().expect("curl -s localhost:8081/readyz/watches", "^ok");
  pages().expect(
      "kubectl get pods -o custom-columns='NAME:.metadata.name,GATES:.spec.schedulingGates[*].name,"
      "REASON:.status.conditions[?(@.type==\"PodScheduled\")].reason'",
      "^third-.* tpuslice.dev/slice +SchedulingGated$");
  pages().expect(
      "kubectl get pods -o jsonpath='{range .items[*]}{.metadata.name}{\"\\t\"}"
      "{.metadata.annotations.tpuslice\\.dev/waiting}{\"\\n\"}{end}'",
      "^third-.*\t.*match(es)?, none is free");
  pages().expect("kubectl describe raycluster train", "tpuslice.dev/SlicesPlaced");
  pages().expect("kubectl get events --field-selector reason=SliceWaiting", "raycluster/third");
  pages().expect("kubectl get events -A --field-selector reason=SliceTornDown", "team-a .* raycluster/train");
  pages().expect("kubectl get --raw /metrics | grep apiserver_admission_webhook_rejection_count",
                 "^apiserver_admission_webhook_rejection_count\\{");
  pages().expect("kubectl -n tpu-slice-system get lease tpu-slice-operator", "tpu-slice-operator +\\S+ ");
  pages().expect("kubectl auth can-i get /metrics --as=system:serviceaccount:monitoring:prometheus-k8s", "^yes$");
  pages().expect("kubectl -n tpu-slice-system get service,endpointslices -l app.kubernetes.io/component=metrics",
                 "endpointslice.discovery.k8s.io/tpu-slice-operator-metrics-");
  pages().may_print_nothing(
      "kubectl -n tpu-slice-system logs -l app.kubernetes.io/name=tpu-slice-operator --tail=-1 | jq -r 'select(.error) "
      "| "
      ".error' | sort | uniq -c | sort -n | tail");
  pages().may_print_nothing(
      "kubectl -n tpu-slice-system logs -l app.kubernetes.io/name=tpu-slice-operator --tail=-1 | jq -c "
      "'select(.upstream)'");
  pages().run_page("docs/observability.md");
}

void ClusterPages::remove() {
  pages().run(
      fmt::format("kubectl delete rayclusters,rayjobs,jobsets,lws --all --timeout=100s && kubectl uncordon a-3"));
  stop_operator();
  expect_run(
      fmt::format("kubectl delete --ignore-not-found -f deploy/monitoring/service.yaml -f "
                  "deploy/monitoring/prometheus-role.yaml -f deploy/install.yaml && "
                  "kubectl delete clusterrolebinding tpu-slice-fleet tpu-slice-debug-reader "
                  "tpu-slice-debug-writer && "
                  "kubectl delete crd servicemonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com && "
                  "kubectl delete namespace {} monitoring",
                  kTeam));
}

TEST_F(ClusterPages, AreRight) {
  expect_run(
      fmt::format("kubectl create namespace {} && kubectl create namespace monitoring && "
                  "kubectl -n monitoring create serviceaccount prometheus-k8s",
                  kTeam));
  expect_run(kMonitoringKinds);
  ASSERT_NO_FATAL_FAILURE(start_pages(kTeam));
  ASSERT_NO_FATAL_FAILURE(install());
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  ASSERT_NO_FATAL_FAILURE(upgrade());
  ASSERT_NO_FATAL_FAILURE(make_events());
  ASSERT_NO_FATAL_FAILURE(wait_until(std::string(kReasonOfThird) + " | grep 'none is free'"));
  replace_addresses();
  ASSERT_NO_FATAL_FAILURE(observe());
  ASSERT_NO_FATAL_FAILURE(record_preemptions());
  pages().expect("kubectl get rayclusters,jobsets -o wide", "NodesInUse +tpu-0: 2 node pools match, none is free: ");
  pages().run_page("docs/slices.md");
  pages().run_page("docs/troubleshooting.md");
  pages().expect(commands_of_section("docs/install.md", "### Jobs that still have the gate").at(0),
                 "^team-a/multislice-");
  pages().run_section("docs/install.md", "### Jobs that still have the gate");
  EXPECT_THAT(pages().unused(), IsEmpty());
  ASSERT_NO_FATAL_FAILURE(grant_tokens());
  remove();
}

}  // namespace
}  // namespace tpuslice::testing
