#include <algorithm>

#include "api/types/quantity.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/defaulting.h"

namespace tpuslice::sim {
namespace {

constexpr int kDefaultMode = 0644;

/// Always for the tag `latest` or no tag; IfNotPresent for other tags and digests.
const char* pull_policy(const std::string& image) {
  if (image.find('@') != std::string::npos) return "IfNotPresent";
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void default_http_get(Json& handler) {
  const auto get = handler.find("httpGet");
  if (get == handler.end() || !get->is_object()) return;
  set_default(*get, "path", "/");
  set_default(*get, "scheme", "HTTP");
}

void default_probe(Json& container, const char* name) {
  const auto probe = container.find(name);
  if (probe == container.end() || !probe->is_object()) return;
  set_default(*probe, "timeoutSeconds", 1);
  set_default(*probe, "periodSeconds", 10);
  set_default(*probe, "successThreshold", 1);
  set_default(*probe, "failureThreshold", 3);
  default_http_get(*probe);
  if (const auto grpc = probe->find("grpc"); grpc != probe->end() && grpc->is_object()) {
    set_default(*grpc, "service", "");
  }
}

/// Writes quantities in canonical form.
void canonical_amounts(Json& resources, const char* name) {
  const auto amounts = resources.find(name);
  if (amounts == resources.end() || !amounts->is_object()) return;
  for (Json& amount : *amounts) {
    if (const Result<Quantity> parsed = Quantity::from_json(amount)) amount = parsed->to_string();
  }
}

void default_container(Json& container, bool host_network) {
  set_default(container, "imagePullPolicy", pull_policy(string_at(container, {"image"})));
  set_default(container, "terminationMessagePath", "/dev/termination-log");
  set_default(container, "terminationMessagePolicy", "File");
  for_each_in(container, "ports", [host_network](Json& port) {
    set_default(port, "protocol", "TCP");
    if (host_network && port.contains("containerPort")) set_default(port, "hostPort", port["containerPort"]);
  });
  for_each_in(container, "env", [](Json& variable) {
    // Empty values are omitted: the revision hash of a template depends on it.
    if (variable.contains("value") && variable["value"] == "") variable.erase("value");
    const auto source = variable.find("valueFrom");
    if (source == variable.end() || !source->is_object()) return;
    if (const auto field = source->find("fieldRef"); field != source->end() && field->is_object()) {
      set_default(*field, "apiVersion", "v1");
    }
    if (const auto field = source->find("resourceFieldRef"); field != source->end() && field->is_object()) {
      set_default(*field, "divisor", "0");
    }
  });
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) default_probe(container, name);
  if (const auto lifecycle = container.find("lifecycle"); lifecycle != container.end() && lifecycle->is_object()) {
    for (Json& handler : *lifecycle) {
      if (handler.is_object()) default_http_get(handler);
    }
  }
  if (Json* resources = object_in(container, "resources"); resources != nullptr) {
    canonical_amounts(*resources, "limits");
    canonical_amounts(*resources, "requests");
  }
}

void default_downward_files(Json& volume) {
  for_each_in(volume, "items", [](Json& file) {
    const auto field = file.find("fieldRef");
    if (field != file.end() && field->is_object()) set_default(*field, "apiVersion", "v1");
  });
}

void default_volume(Json& volume) {
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = Json::object();
  for (const char* name : {"secret", "configMap", "downwardAPI", "projected"}) {
    const auto source = volume.find(name);
    if (source == volume.end() || !source->is_object()) continue;
    set_default(*source, "defaultMode", kDefaultMode);
    if (std::string_view(name) == "downwardAPI") default_downward_files(*source);
    for_each_in(*source, "sources", [](Json& projection) {
      if (const auto token = projection.find("serviceAccountToken"); token != projection.end() && token->is_object()) {
        set_default(*token, "expirationSeconds", 3600);
      }
      if (const auto files = projection.find("downwardAPI"); files != projection.end() && files->is_object()) {
        default_downward_files(*files);
      }
    });
  }
  if (const auto path = volume.find("hostPath"); path != volume.end() && path->is_object()) {
    set_default(*path, "type", "");
  }
}

void request_limits(Json& container) {
  Json* resources = object_in(container, "resources");
  if (resources == nullptr) return;
  const auto limits = resources->find("limits");
  if (limits == resources->end() || !limits->is_object() || limits->empty()) return;
  const Json amounts = *limits;
  Json* requests = object_in(*resources, "requests");
  if (requests == nullptr) return;
  for (const auto& [name, amount] : amounts.items()) set_default(*requests, name.c_str(), amount);
}

bool is_tolerated(const Json& tolerations, const char* key) {
  return std::any_of(tolerations.begin(), tolerations.end(), [key](const Json& each) {
    const std::string effect = string_at(each, {"effect"});
    if (!effect.empty() && effect != "NoExecute") return false;
    const std::string found = string_at(each, {"key"});
    if (found.empty()) return string_at(each, {"operator"}) == "Exists";
    return found == key && (string_at(each, {"operator"}) == "Exists" || string_at(each, {"value"}).empty());
  });
}

void tolerate_node_problems(Json& spec) {
  constexpr int kSeconds = 300;
  Json& tolerations = spec["tolerations"];
  if (tolerations.is_null()) tolerations = Json::array();
  if (!tolerations.is_array()) return;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (is_tolerated(tolerations, key)) continue;
    tolerations.push_back(
        {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kSeconds}});
  }
}

/// Priorities of the system classes; the plugin Priority resolves others.
void default_priority(Json& spec) {
  const std::string name = string_at(spec, {"priorityClassName"});
  if (name.empty()) set_default(spec, "priority", 0);
  if (name == "system-cluster-critical") set_default(spec, "priority", 2'000'000'000);
  if (name == "system-node-critical") set_default(spec, "priority", 2'000'001'000);
  set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
}

bool list_is_empty(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_array() && found->empty();
}

}  // namespace

std::string qos_class(const Json& spec) {
  bool guaranteed = true;
  bool any = false;
  for (const char* kind : {"containers", "initContainers"}) {
    const Json* containers = find_path(spec, {kind});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Json& container : *containers) {
      for (const char* name : {"cpu", "memory"}) {
        const Json* limit = find_path(container, {"resources", "limits", name});
        const Json* request = find_path(container, {"resources", "requests", name});
        any = any || limit != nullptr || request != nullptr;
        if (limit == nullptr || (request != nullptr && *request != *limit)) guaranteed = false;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

void default_pod_spec(Json& spec) {
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "securityContext", Json::object());
  if (spec.contains("serviceAccountName")) {
    set_default(spec, "serviceAccount", spec["serviceAccountName"]);
  } else if (spec.contains("serviceAccount")) {
    spec["serviceAccountName"] = spec["serviceAccount"];
  }
  const bool host_network = bool_at(spec, {"hostNetwork"});
  for (const char* kind : {"containers", "initContainers"}) {
    for_each_in(spec, kind, [host_network](Json& container) { default_container(container, host_network); });
  }
  for_each_in(spec, "volumes", default_volume);
}

void default_new_pod(Json& pod) {
  Json* spec = object_in(pod, "spec");
  if (spec == nullptr) return;
  set_default(*spec, "enableServiceLinks", true);
  if (string_at(*spec, {"serviceAccountName"}).empty()) {
    (*spec)["serviceAccountName"] = string_at(*spec, {"serviceAccount"}, "default");
  }
  default_pod_spec(*spec);
  for (const char* kind : {"containers", "initContainers"}) for_each_in(*spec, kind, request_limits);
  tolerate_node_problems(*spec);
  default_priority(*spec);
  Json* status = object_in(pod, "status");
  if (status == nullptr) return;
  set_default(*status, "phase", "Pending");
  set_default(*status, "qosClass", qos_class(*spec));
  for_each_in(*status, "conditions", [](Json& condition) {
    for (const char* time : {"lastProbeTime", "lastTransitionTime"}) {
      if (!condition.contains(time)) condition[time] = nullptr;
    }
  });
  if (list_is_empty(*spec, "schedulingGates")) spec->erase("schedulingGates");
}

}  // namespace tpuslice::sim
