#include "tests/e2e/kueue/kueue_objects.h"

#include <fmt/format.h>

#include "controllers/jobset/rules/spec.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kKueueApi = "kueue.x-k8s.io/v1beta2";
constexpr ResourceType kFlavors{"kueue.x-k8s.io", "v1beta2", "ResourceFlavor", "resourceflavors", false};
constexpr ResourceType kLocalQueues{"kueue.x-k8s.io", "v1beta2", "LocalQueue", "localqueues"};
constexpr ResourceType kTopologies{"kueue.x-k8s.io", "v1beta2", "Topology", "topologies", false};
constexpr ResourceType kAdmissionChecks{"kueue.x-k8s.io", "v1beta2", "AdmissionCheck", "admissionchecks", false};
constexpr ResourceType kProvisioningConfigs{"kueue.x-k8s.io", "v1beta2", "ProvisioningRequestConfig",
                                            "provisioningrequestconfigs", false};
constexpr const char* kAccelerator = "tpu-v6e-slice";

Json named(const char* api, std::string_view kind, const std::string& name) {
  return {{"apiVersion", api}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

Json workload_object(WorkloadKind kind, const QueuedWorkload& workload) {
  const ResourceType& type = type_of(kind);
  Json object = named(type.api_version().c_str(), type.kind, workload.name);
  object["metadata"]["namespace"] = "default";
  object["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = workload.queue;
  if (!workload.priority.empty()) object["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = workload.priority;
  return object;
}

Json pod_template(const QueuedWorkload& workload, const char* restart_policy) {
  const Json container = {
      {"name", "worker"}, {"image", "example"}, {"resources", {{"limits", {{"cpu", "1"}, {tpu::kTpuResource, "4"}}}}}};
  const Json toleration = {{"key", tpu::kTpuTaint}, {"operator", "Exists"}, {"effect", "NoSchedule"}};
  Json pod = {{"spec",
               {{"restartPolicy", restart_policy},
                {"nodeSelector", {{tpu::kAcceleratorLabel, kAccelerator}, {tpu::kTopologyLabel, workload.topology}}},
                {"tolerations", Json::array({toleration})},
                {"containers", Json::array({container})}}}};
  if (!workload.annotations.empty()) pod["metadata"]["annotations"] = workload.annotations;
  return pod;
}

Json job_spec(const QueuedWorkload& workload, int pods) {
  return {{"completions", pods},
          {"parallelism", pods},
          {"completionMode", "Indexed"},
          {"backoffLimit", 0},
          {"template", pod_template(workload, "Never")}};
}

Json jobset_spec(const QueuedWorkload& workload) {
  Json job = job_spec(workload, workload.hosts);
  const Json replicated = {{"name", "w"}, {"replicas", workload.slices}, {"template", {{"spec", std::move(job)}}}};
  return {{"replicatedJobs", Json::array({replicated})}};
}

Json raycluster_spec(const QueuedWorkload& workload) {
  const Json head = {
      {"name", "head"}, {"image", "example"}, {"resources", {{"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}}}};
  Json workers = {{"groupName", "tpu"},
                  {"replicas", workload.slices},
                  {"minReplicas", 0},
                  {"maxReplicas", workload.slices},
                  {"numOfHosts", workload.hosts},
                  {"rayStartParams", Json::object()},
                  {"template", pod_template(workload, "Always")}};
  return {{"headGroupSpec",
           {{"rayStartParams", Json::object()}, {"template", {{"spec", {{"containers", Json::array({head})}}}}}}},
          {"workerGroupSpecs", Json::array({std::move(workers)})}};
}

Json leaderworkerset_spec(const QueuedWorkload& workload) {
  return {{"replicas", workload.slices},
          {"leaderWorkerTemplate", {{"size", workload.hosts}, {"workerTemplate", pod_template(workload, "Always")}}}};
}

Json quota(std::string_view resource, const std::string& amount) {
  return {{"name", resource}, {"nominalQuota", amount}};
}

Json quotas(const std::string& flavor, int chips) {
  return {{"name", flavor},
          {"resources", Json::array({quota("cpu", "1000"), quota("memory", "1000Gi"),
                                     quota(tpu::kTpuResource, std::to_string(chips))})}};
}

Json flavor_of(const QueueOptions& options) {
  Json flavor = named(kKueueApi, kFlavors.kind, options.name);
  flavor["spec"]["nodeLabels"] = {{tpu::kAcceleratorLabel, kAccelerator}, {tpu::kTopologyLabel, options.topology}};
  if (options.topology_aware) flavor["spec"]["topologyName"] = options.name;
  return flavor;
}

Json cluster_queue_of(const QueueOptions& options) {
  // The first flavor that fits is assigned. Heads of RayClusters have no TPUs and get that of CPU nodes; workers do not
  // fit there. One group, since all resources of a pod need a flavor with a topology if one has it.
  const Json group = {
      {"coveredResources", {"cpu", "memory", tpu::kTpuResource}},
      {"flavors", Json::array({quotas(options.name + "-cpu", 0), quotas(options.name, options.chips)})}};
  Json queue = named(kKueueApi, kClusterQueues.kind, options.name);
  queue["spec"] = {{"namespaceSelector", Json::object()},
                   {"preemption", {{"withinClusterQueue", "LowerPriority"}}},
                   {"queueingStrategy", options.strict ? "StrictFIFO" : "BestEffortFIFO"},
                   {"stopPolicy", options.hold ? "Hold" : "None"},
                   {"resourceGroups", Json::array({group})}};
  if (!options.admission_check.empty()) {
    const Json check = {{"name", options.admission_check}, {"onFlavors", {options.name}}};
    queue["spec"]["admissionChecksStrategy"]["admissionChecks"] = Json::array({check});
  }
  return queue;
}

Json topology_of(const std::string& name) {
  Json topology = named(kKueueApi, kTopologies.kind, name);
  topology["spec"]["levels"] =
      Json::array({Json{{"nodeLabel", tpu::kNodePoolLabel}}, Json{{"nodeLabel", tpu::kHostnameLabel}}});
  return topology;
}

Json local_queue_of(const std::string& name) {
  Json local = named(kKueueApi, kLocalQueues.kind, name);
  local["metadata"]["namespace"] = "default";
  local["spec"]["clusterQueue"] = name;
  return local;
}

}  // namespace

const ResourceType& type_of(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kJobSet:
      return jobset::kJobSets;
    case WorkloadKind::kJob:
      return kJobs;
    case WorkloadKind::kLeaderWorkerSet:
      return leaderworkerset::kLeaderWorkerSets;
    case WorkloadKind::kRayCluster:
      break;
  }
  return raycluster::kRayClusters;
}

Json make_workload(WorkloadKind kind, const QueuedWorkload& workload) {
  Json object = workload_object(kind, workload);
  Json& spec = object["spec"];
  switch (kind) {
    case WorkloadKind::kJobSet:
      spec = jobset_spec(workload);
      break;
    case WorkloadKind::kJob:
      spec = job_spec(workload, workload.slices * workload.hosts);
      spec["template"]["spec"]["subdomain"] = workload.name;
      break;
    case WorkloadKind::kLeaderWorkerSet:
      spec = leaderworkerset_spec(workload);
      break;
    case WorkloadKind::kRayCluster:
      spec = raycluster_spec(workload);
      break;
  }
  return object;
}

std::vector<TypedObject> make_queue(const QueueOptions& options) {
  std::vector<TypedObject> objects;
  if (options.topology_aware) objects.emplace_back(kTopologies, topology_of(options.name));
  objects.emplace_back(kFlavors, named(kKueueApi, kFlavors.kind, options.name + "-cpu"));
  objects.emplace_back(kFlavors, flavor_of(options));
  objects.emplace_back(kClusterQueues, cluster_queue_of(options));
  objects.emplace_back(kLocalQueues, local_queue_of(options.name));
  return objects;
}

std::vector<TypedObject> make_cpu_queue(const QueueOptions& options) {
  std::vector<TypedObject> objects;
  Json flavor = named(kKueueApi, kFlavors.kind, options.name);
  flavor["spec"]["nodeLabels"] = {{tpu::kNodePoolLabel, "cpu"}};
  if (options.topology_aware) {
    objects.emplace_back(kTopologies, topology_of(options.name));
    flavor["spec"]["topologyName"] = options.name;
  }
  objects.emplace_back(kFlavors, std::move(flavor));
  const Json resources = {{"name", options.name},
                          {"resources", Json::array({quota("cpu", "1000"), quota("memory", "1000Gi")})}};
  const Json group = {{"coveredResources", {"cpu", "memory"}}, {"flavors", Json::array({resources})}};
  Json queue = named(kKueueApi, kClusterQueues.kind, options.name);
  queue["spec"] = {{"namespaceSelector", Json::object()},
                   {"stopPolicy", options.hold ? "Hold" : "None"},
                   {"resourceGroups", Json::array({group})}};
  objects.emplace_back(kClusterQueues, std::move(queue));
  objects.emplace_back(kLocalQueues, local_queue_of(options.name));
  return objects;
}

Json make_priority_class(const std::string& name, int value) {
  Json priority = named(kKueueApi, kPriorityClasses.kind, name);
  priority["value"] = value;
  return priority;
}

std::vector<TypedObject> make_provisioning_check(const std::string& name) {
  Json config = named(kKueueApi, kProvisioningConfigs.kind, name);
  const Json selector = {{"key", tpu::kNodePoolLabel}, {"valueFromProvisioningClassDetail", "NodePoolName"}};
  config["spec"] = {{"provisioningClassName", "queued-provisioning.gke.io"},
                    {"managedResources", {tpu::kTpuResource}},
                    {"retryStrategy", {{"backoffLimitCount", 1}, {"backoffBaseSeconds", 1}, {"backoffMaxSeconds", 1}}},
                    {"podSetUpdates", {{"nodeSelector", Json::array({selector})}}}};
  Json check = named(kKueueApi, kAdmissionChecks.kind, name);
  check["spec"] = {
      {"controllerName", "kueue.x-k8s.io/provisioning-request"},
      {"parameters", {{"apiGroup", "kueue.x-k8s.io"}, {"kind", kProvisioningConfigs.kind}, {"name", name}}}};
  return {{kProvisioningConfigs, std::move(config)}, {kAdmissionChecks, std::move(check)}};
}

}  // namespace tpuslice::testing
