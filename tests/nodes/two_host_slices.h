// Node pools and workloads of slices of two hosts, for tests that ask only whether a slice runs, and with which pods.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "tests/support/live_pods.h"
#include "tests/support/pods.h"
#include "tpu/labels.h"

namespace tpuslice::testing {

/// Pools "v6e-0", "v6e-1"... of two nodes, and "cpu".
inline std::vector<sim::NodePool> two_host_pools(int slices, int cpu_nodes) {
  std::vector<sim::NodePool> pools;
  for (int i = 0; i < slices; ++i) {
    sim::NodePool pool{.name = fmt::format("v6e-{}", i), .accelerator = "tpu-v6e-slice", .topology = "2x4"};
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = 2;
    pool.chips_per_host = 4;
    pools.push_back(std::move(pool));
  }
  pools.push_back({.name = "cpu", .hosts = cpu_nodes});
  return pools;
}

/// The spec of a Job whose two pods do nothing. `more`: further members of their spec.
inline std::string two_host_job_spec(const std::string& labels, const std::string& more) {
  return fmt::format(
      "{{completions: 2, parallelism: 2, completionMode: Indexed, backoffLimit: 0, template: {{metadata: {{labels: "
      "{{{}}}}}, spec: {{{}restartPolicy: Never, terminationGracePeriodSeconds: 1, nodeSelector: "
      "{{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x4}}, containers: "
      "[{{name: worker, image: 'localhost/busybox:1', imagePullPolicy: IfNotPresent, command: [sleep, '86400'], "
      "resources: {{limits: {{google.com/tpu: 4}}}}}}]}}}}}}",
      labels, more);
}

/// A JobSet in the namespace default; pods_of_slice() selects its pods, as those of the Job.
inline std::string two_host_jobset(const std::string& name) {
  return fmt::format(
      "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {0}, namespace: default}}\n"
      "spec: {{replicatedJobs: [{{name: slice, template: {{spec: {1}}}}}]}}\n",
      name, two_host_job_spec("slice-of: " + name, ""));
}

/// An Indexed Job and its headless service.
inline std::string two_host_job(const std::string& name) {
  return fmt::format(
      "apiVersion: v1\nkind: Service\nmetadata: {{name: {0}, namespace: default}}\n"
      "spec: {{clusterIP: None, selector: {{slice-of: {0}}}}}\n"
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {0}, namespace: default}}\nspec: {1}\n",
      name, two_host_job_spec("slice-of: " + name, fmt::format("subdomain: {}, ", name)));
}

/// Selects the pods of the JobSet or Job.
inline std::string pods_of_slice(const std::string& name) { return "slice-of=" + name; }

inline bool is_running(const Object& pod) { return string_at(pod.json(), {"status", "phase"}) == "Running"; }

/// Name of each pod that runs, with its uid and its number of restarts. Empty if they cannot be listed.
inline std::map<std::string, std::string> running_pods(client::Client& client, const std::string& namespace_name,
                                                       const std::string& label_selector) {
  std::map<std::string, std::string> found;
  for (const Object& pod : live_pods(client, namespace_name, label_selector)) {
    const auto restarts = int_at(pod.json(), {"status", "containerStatuses", "0", "restartCount"});
    if (is_running(pod)) found[pod.name()] = fmt::format("{} restarts: {}", pod.uid(), restarts);
  }
  return found;
}

/// What admission has to set in a pod of a slice of several hosts, and did not; empty if it is all there.
inline std::string missing_identity(const Object& pod) {
  const std::string slice = pod.label(tpu::kSlice);
  if (slice.empty() || slice == tpu::kNoSlice) return std::string(tpu::kSlice);
  for (const char* variable : {"TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES"}) {
    if (tpu::testing::env_value(pod.json(), variable) == "<absent>") return variable;
  }
  return "";
}

}  // namespace tpuslice::testing
