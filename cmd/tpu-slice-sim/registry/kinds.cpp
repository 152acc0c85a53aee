#include "cmd/tpu-slice-sim/registry/kinds.h"

#include <fmt/format.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-sim/registry/service_addresses.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/schema/defaulting.h"

namespace tpuslice::sim {
namespace {

void prepare_pod(Json& pod, const KindContext& context) {
  Json status = {{"phase", "Pending"}, {"qosClass", qos_class(pod["spec"])}};
  const Json* gates = find_path(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && gates->is_array() && !gates->empty()) {
    status["conditions"] = Json::array({{{"type", "PodScheduled"},
                                         {"status", "False"},
                                         {"reason", "SchedulingGated"},
                                         {"message", "Scheduling is blocked due to non-empty scheduling gates"},
                                         {"lastProbeTime", nullptr},
                                         {"lastTransitionTime", context.now}}});
  }
  pod["status"] = std::move(status);
}

void prepare_namespace(Json& object) {
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = string_at(object, {"metadata", "name"});
  object["spec"]["finalizers"] = Json::array({"kubernetes"});
  object["status"] = {{"phase", "Active"}};
}

/// Generates the unique selector and pod labels of a Job, unless spec.manualSelector is set.
void prepare_job(Json& job) {
  const Json* manual = find_path(job, {"spec", "manualSelector"});
  if (manual != nullptr && *manual == true) return;
  if (manual == nullptr) job["spec"]["manualSelector"] = false;
  const std::string uid = string_at(job, {"metadata", "uid"});
  const std::string name = string_at(job, {"metadata", "name"});
  // Other values are refused by validation.
  Json& labels = job["spec"]["template"]["metadata"]["labels"];
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    set_default(labels, fmt::format("{}controller-uid", prefix).c_str(), uid);
    set_default(labels, fmt::format("{}job-name", prefix).c_str(), name);
  }
  set_default(job["spec"]["selector"]["matchLabels"], "batch.kubernetes.io/controller-uid", uid);
}

/// A port of an EndpointSlice always has a name.
void prepare_endpoint_slice(Json& slice) {
  const auto ports = slice.find("ports");
  if (ports == slice.end() || !ports->is_array()) return;
  for (Json& port : *ports) {
    if (port.is_object() && !port.contains("name")) port["name"] = "";
  }
}

/// Fields that the API server always writes.
void prepare_node(Json& node) {
  if (!node.contains("spec")) node["spec"] = Json::object();
  Json& status = node["status"];
  if (!status.contains("daemonEndpoints")) status["daemonEndpoints"] = {{"kubeletEndpoint", {{"Port", 0}}}};
  Json& info = status["nodeInfo"];
  for (const char* field : {"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
                            "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"}) {
    if (!info.contains(field)) info[field] = "";
  }
}

void upsert_condition(Json& crd, const char* type, const char* reason, const char* message, const std::string& now) {
  Json& conditions = crd["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (Json& each : conditions) {
    if (string_at(each, {"type"}) != type) continue;
    each["status"] = "True";
    return;
  }
  conditions.push_back(
      {{"type", type}, {"status", "True"}, {"reason", reason}, {"message", message}, {"lastTransitionTime", now}});
}

void prepare_crd(Json& crd, const std::string& now) {
  Json& names = crd["spec"]["names"];
  if (!names.is_object()) return;
  const std::string kind = string_at(names, {"kind"});
  if (string_at(names, {"listKind"}).empty()) names["listKind"] = kind + "List";
  if (string_at(names, {"singular"}).empty()) names["singular"] = to_lower(kind);
  if (find_path(crd, {"spec", "conversion"}) == nullptr) crd["spec"]["conversion"] = {{"strategy", "None"}};
  Json accepted = names;
  crd["status"]["acceptedNames"] = std::move(accepted);
  upsert_condition(crd, "NamesAccepted", "NoConflicts", "no conflicts found", now);
  upsert_condition(crd, "Established", "InitialNamesAccepted", "the initial names have been accepted", now);
  Json& stored = crd["status"]["storedVersions"];
  if (!stored.is_array()) stored = Json::array();
  const Json* versions = find_path(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return;
  for (const Json& version : *versions) {
    const Json* flag = find_path(version, {"storage"});
    const Json name = string_at(version, {"name"});
    const bool known = std::find(stored.begin(), stored.end(), name) != stored.end();
    if (flag != nullptr && *flag == true && !known) stored.push_back(name);
  }
}

/// Without the feature gate MaxUnavailableStatefulSet, a new maxUnavailable is dropped.
void drop_max_unavailable(Json& set, const Json& old) {
  if (find_path(old, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}) != nullptr) return;
  if (find_path(set, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}) == nullptr) return;
  set["spec"]["updateStrategy"]["rollingUpdate"].erase("maxUnavailable");
}

/// Only a new node keeps its status.
bool drops_status(const Resource& resource) { return resource.has_status && resource.id() != "nodes"; }

}  // namespace

Status prepare_create(const Resource& resource, Json& object, const KindContext& context) {
  if (drops_status(resource)) object.erase("status");
  const std::string id = resource.id();
  if (id == "pods") prepare_pod(object, context);
  if (id == "namespaces") prepare_namespace(object);
  if (id == "jobs.batch") prepare_job(object);
  if (id == "nodes") prepare_node(object);
  if (id == "endpointslices.discovery.k8s.io") prepare_endpoint_slice(object);
  if (id == "persistentvolumeclaims") object["status"] = {{"phase", "Pending"}};
  if (id == "customresourcedefinitions.apiextensions.k8s.io") prepare_crd(object, context.now);
  if (id == "services") {
    object["status"] = {{"loadBalancer", Json::object()}};
    return assign_addresses(resource, object, context.storage);
  }
  if (id == "statefulsets.apps") {
    drop_max_unavailable(object, {});
    object["status"] = {{"replicas", 0}, {"availableReplicas", 0}};
  }
  if (resource.group == "coordination.k8s.io" && !object.contains("spec")) object["spec"] = Json::object();
  if (!resource.custom && resource.has_status && !object.contains("status")) object["status"] = Json::object();
  return {};
}

Status prepare_update(const Resource& resource, Json& object, const Json& old, const KindContext& context) {
  const std::string id = resource.id();
  if (id == "endpointslices.discovery.k8s.io") prepare_endpoint_slice(object);
  if (id == "customresourcedefinitions.apiextensions.k8s.io") prepare_crd(object, context.now);
  if (id == "statefulsets.apps") drop_max_unavailable(object, old);
  if (id == "namespaces") {
    if (const Json* had = find_path(old, {"spec"}); had != nullptr) object["spec"] = *had;
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = string_at(object, {"metadata", "name"});
  }
  if (id == "services") {
    keep_addresses(object, old);
    return assign_addresses(resource, object, context.storage);
  }
  return {};
}

bool terminating(const Json& object) { return find_path(object, {"metadata", "deletionTimestamp"}) != nullptr; }

bool is_sidecar(const Json& pod, std::string_view name) {
  const Json& list = array_at(pod, {"spec", "initContainers"});
  return std::any_of(list.begin(), list.end(), [&](const Json& entry) {
    return string_at(entry, {"name"}) == name && string_at(entry, {"restartPolicy"}) == "Always";
  });
}

bool pod_finished(const Json& pod) {
  const std::string phase = string_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace tpuslice::sim
