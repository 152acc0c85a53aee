#include "tests/e2e/install/ways.h"

#include <fmt/format.h>

#include "tests/e2e/uninstall/workloads.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kChart = "deploy/helm/tpu-slice-operator";

InstallWay overlay(const std::string& name, std::vector<std::string> kinds) {
  return {name, "kubectl apply --server-side -k deploy/overlays/" + name,
          "kubectl delete --ignore-not-found -k deploy/overlays/" + name, std::move(kinds)};
}

InstallWay helm(const std::string& name, const std::string& values, std::vector<std::string> kinds) {
  return {name,
          fmt::format("helm install tpu-slice-operator {} --namespace tpu-slice-system --create-namespace{}", kChart,
                      values.empty() ? "" : " " + values),
          "helm uninstall tpu-slice-operator --namespace tpu-slice-system", std::move(kinds)};
}

constexpr const char* kRayClusterSpec = R"(
    headGroupSpec:
      rayStartParams: {}
      template: {spec: {containers: [{name: head, image: example, resources: {limits: {cpu: "1", memory: 1Gi}}}]}}
    workerGroupSpecs:
      - groupName: tpu
        replicas: 1
        numOfHosts: 4
        rayStartParams: {}
        template:
          spec:
            terminationGracePeriodSeconds: 0
            nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}
            containers: [{name: main, image: example, resources: {limits: {google.com/tpu: 4}}}]
)";

}  // namespace

const std::vector<InstallWay>& install_ways() {
  static const std::vector<std::string> kAll = {"raycluster",      "rayjob", "rayservice", "jobset",
                                                "leaderworkerset", "job",    "statefulset"};
  static const std::vector<InstallWay> kWays = [] {
    std::vector<InstallWay> ways = {
        {"install-yaml", "kubectl apply --server-side -f deploy/install.yaml",
         "kubectl delete --ignore-not-found -f deploy/install.yaml", kAll},
        overlay("single-replica", {"raycluster", "jobset", "job"}),
        overlay("beside-kuberay", {"jobset", "leaderworkerset", "job", "statefulset"}),
        overlay("beside-jobset", {"raycluster", "rayjob", "leaderworkerset"}),
        overlay("beside-lws", {"raycluster", "rayservice", "jobset"}),
        overlay("beside-upstream", {"job", "statefulset"}),
        overlay("webhook-only", {"job", "statefulset"}),
        helm("helm", "", kAll),
        helm("helm-beside-kuberay", "--set 'controllers={*,-raycluster}' --set config.logLevel=debug",
             {"jobset", "leaderworkerset", "job"}),
    };
    for (InstallWay& way : ways) way.gated = way.name != "webhook-only";
    return ways;
  }();
  return kWays;
}

std::string workload_of(const std::string& kind) {
  const std::string metadata = fmt::format("metadata: {{name: {}}}\n", kind);
  if (kind == "rayjob") {
    return fmt::format("apiVersion: ray.io/v1\nkind: RayJob\n{}spec:\n  entrypoint: python run.py\n  rayClusterSpec:{}",
                       metadata, kRayClusterSpec);
  }
  if (kind == "rayservice") {
    return fmt::format(
        "apiVersion: ray.io/v1\nkind: RayService\n{}spec:\n  serveConfigV2: 'applications: []'\n  rayClusterConfig:{}",
        metadata, kRayClusterSpec);
  }
  for (const SliceWorkload& workload : workloads_of_every_kind("of")) {
    if (workload.kind == kind) return workload.manifest;
  }
  return "";
}

}  // namespace tpuslice::testing
