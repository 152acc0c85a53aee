// Pods as the controllers of all kinds create them, for tests.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"
#include "tpu/catalog.h"

namespace tpuslice::tpu::testing {

inline const Accelerator& accelerator(std::string_view label) { return **find_accelerator(label); }
inline Topology shape(std::string_view text) { return *Topology::parse(text); }

/// What pods of all workloads have in common.
struct PodShape {
  std::string accelerator = "tpu-v6e-slice";  ///< Empty: no such selector, as for `topology`.
  std::string topology = "4x4";
  std::vector<int> chips = {4};  ///< Of each container; 0: none.
  Json env = Json::array();      ///< Of each container.
};

/// 9,216 hosts of one chip, the most that a slice has.
inline const PodShape kLargestSlice{.accelerator = "tpu7x", .topology = "16x24x24", .chips = {1}};

inline Json containers_of(const PodShape& shape) {
  Json containers = Json::array();
  for (std::size_t i = 0; i < shape.chips.size(); ++i) {
    Json container = {{"name", "c" + std::to_string(i)}, {"env", shape.env}};
    if (shape.chips[i] > 0) container["resources"]["limits"]["google.com/tpu"] = std::to_string(shape.chips[i]);
    containers.push_back(container);
  }
  return containers;
}

inline Json pod_of(const PodShape& shape, const std::string& name) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}, {"namespace", "default"}}},
              {"spec", {{"containers", containers_of(shape)}}}};
  if (!shape.accelerator.empty()) {
    pod["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-accelerator"] = shape.accelerator;
  }
  if (!shape.topology.empty()) pod["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] = shape.topology;
  return pod;
}

inline Json owner(const std::string& kind, const std::string& name) {
  return Json::array({Json({{"apiVersion", kind == "Job" ? "batch/v1" : "apps/v1"},
                            {"kind", kind},
                            {"name", name},
                            {"uid", "uid-of-" + name},
                            {"controller", true}})});
}

struct RayPod {
  std::string cluster = "rc";
  std::string group = "g";
  std::string accelerator = "tpu-v6e-slice";
  std::string topology = "4x4";
  std::vector<int> chips = {4};  ///< Of each container.
  int replica = 0;
  int host = 0;
  Json env = Json::array();  ///< Of each container.

  [[nodiscard]] Json json() const {
    Json pod = pod_of({accelerator, topology, chips, env}, cluster + "-" + group + "-worker-x");
    pod["metadata"]["labels"] = {{"ray.io/cluster", cluster},
                                 {"ray.io/group", group},
                                 {"ray.io/node-type", "worker"},
                                 {"ray.io/worker-group-replica-index", std::to_string(replica)},
                                 {"ray.io/replica-host-index", std::to_string(host)}};
    return pod;
  }
};

/// Of an Indexed Job; of a JobSet's where `replicated_job` is set.
struct JobPod {
  PodShape shape;
  std::string job = "train";
  std::string subdomain = "svc";
  int index = 0;
  std::string job_set;  ///< Then the job is "<job_set>-<replicated_job>-<job_index>".
  std::string replicated_job;
  int replicas = 1;
  int job_index = 0;

  [[nodiscard]] Json json() const {
    const std::string name = job_set.empty() ? job : job_set + "-" + replicated_job + "-" + std::to_string(job_index);
    const std::string number = std::to_string(index);
    Json pod = pod_of(shape, name + "-" + number + "-abcde");
    Json& metadata = pod["metadata"];
    metadata["ownerReferences"] = owner("Job", name);
    metadata["labels"] = {{"batch.kubernetes.io/job-name", name}, {"batch.kubernetes.io/job-completion-index", number}};
    metadata["annotations"]["batch.kubernetes.io/job-completion-index"] = number;
    pod["spec"]["hostname"] = name + "-" + number;
    if (!subdomain.empty()) pod["spec"]["subdomain"] = subdomain;
    if (job_set.empty()) return pod;
    metadata["labels"]["jobset.sigs.k8s.io/jobset-name"] = job_set;
    metadata["labels"]["jobset.sigs.k8s.io/jobset-uid"] = "uid-of-" + job_set;
    metadata["labels"]["jobset.sigs.k8s.io/replicatedjob-name"] = replicated_job;
    metadata["labels"]["jobset.sigs.k8s.io/replicatedjob-replicas"] = std::to_string(replicas);
    metadata["labels"]["jobset.sigs.k8s.io/job-index"] = std::to_string(job_index);
    return pod;
  }
};

struct StatefulSetPod {
  PodShape shape;
  std::string set = "serve";
  int ordinal = 0;

  [[nodiscard]] Json json() const {
    const std::string name = set + "-" + std::to_string(ordinal);
    Json pod = pod_of(shape, name);
    pod["metadata"]["ownerReferences"] = owner("StatefulSet", set);
    pod["metadata"]["labels"] = {{"statefulset.kubernetes.io/pod-name", name},
                                 {"apps.kubernetes.io/pod-index", std::to_string(ordinal)}};
    pod["spec"]["hostname"] = name;
    pod["spec"]["subdomain"] = "svc";
    return pod;
  }
};

/// Of a LeaderWorkerSet, as its StatefulSets make them.
struct LwsPod {
  PodShape shape;
  std::string set = "lws";
  int group = 0;
  int worker = 0;  ///< 0: the leader.
  int size = 4;
  bool leader_has_tpus = true;
  int subgroup_size = 0;
  bool leader_excluded = false;
  bool service_per_group = false;

  [[nodiscard]] Json json() const {
    const std::string leader = set + "-" + std::to_string(group);
    const std::string name = worker == 0 ? leader : leader + "-" + std::to_string(worker);
    Json pod = pod_of(shape, name);
    Json& metadata = pod["metadata"];
    metadata["ownerReferences"] = owner("StatefulSet", worker == 0 ? set : leader);
    metadata["labels"]["leaderworkerset.sigs.k8s.io/name"] = set;
    metadata["annotations"]["leaderworkerset.sigs.k8s.io/size"] = std::to_string(size);
    if (worker == 0) {
      metadata["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] = "0";
    } else {
      metadata["annotations"]["leaderworkerset.sigs.k8s.io/leader-name"] = leader;
      if (leader_has_tpus) metadata["annotations"]["leaderworkerset.sigs.k8s.io/leader-requests-tpus"] = "true";
    }
    if (subgroup_size > 0) {
      metadata["annotations"]["leaderworkerset.sigs.k8s.io/subgroup-size"] = std::to_string(subgroup_size);
      metadata["annotations"]["leaderworkerset.sigs.k8s.io/subgroup-policy-type"] =
          leader_excluded ? "LeaderExcluded" : "LeaderWorker";
    }
    pod["spec"]["hostname"] = name;
    pod["spec"]["subdomain"] = set;
    if (service_per_group) {
      metadata["annotations"]["leaderworkerset.sigs.k8s.io/subdomainPolicy"] = "UniquePerReplica";
      if (worker > 0) pod["spec"]["subdomain"] = leader;
    }
    return pod;
  }
};

/// Of the container at `position` of `list`; "<absent>" without it, the field of a variable of the downward API.
inline std::string env_value(const Json& pod, std::string_view name, std::size_t position = 0,
                             std::string_view list = "containers") {
  const Json* env = find_path(pod, {"spec", list, std::to_string(position), "env"});
  std::string value = "<absent>";
  for (const Json& entry : env == nullptr ? Json::array() : *env) {
    if (string_at(entry, {"name"}) != name) continue;
    value = string_at(entry, {"value"}, string_at(entry, {"valueFrom", "fieldRef", "fieldPath"}));
  }
  return value;
}

}  // namespace tpuslice::tpu::testing
