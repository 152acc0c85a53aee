#include "cmd/tpu-slice-sim/resources/builtin_resources.h"

#include <array>

namespace tpuslice::sim {
namespace {

enum Flag : unsigned { kNone = 0, kCluster = 1, kStatus = 2, kScale = 4 };

struct Row {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
  const char* singular;
  const char* short_name;  ///< Comma-separated.
  unsigned flags;
  bool in_all;  ///< In the category "all" of `kubectl get all`.
};

constexpr auto kApps = "apps";
constexpr auto kAdmission = "admissionregistration.k8s.io";

constexpr std::array kRows = {
    Row{"", "v1", "Namespace", "namespaces", "namespace", "ns", kCluster | kStatus, false},
    Row{"", "v1", "Node", "nodes", "node", "no", kCluster | kStatus, false},
    Row{"", "v1", "Pod", "pods", "pod", "po", kStatus, true},
    Row{"", "v1", "Service", "services", "service", "svc", kStatus, true},
    Row{"", "v1", "ConfigMap", "configmaps", "configmap", "cm", kNone, false},
    Row{"", "v1", "Secret", "secrets", "secret", "", kNone, false},
    Row{"", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", "sa", kNone, false},
    Row{"", "v1", "PodTemplate", "podtemplates", "podtemplate", "", kNone, false},
    Row{"", "v1", "Event", "events", "event", "ev", kNone, false},
    Row{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", "pvc", kStatus, false},
    Row{kApps, "v1", "StatefulSet", "statefulsets", "statefulset", "sts", kStatus | kScale, true},
    Row{kApps, "v1", "ControllerRevision", "controllerrevisions", "controllerrevision", "", kNone, false},
    Row{"batch", "v1", "Job", "jobs", "job", "", kStatus, true},
    Row{"coordination.k8s.io", "v1", "Lease", "leases", "lease", "", kNone, false},
    Row{"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice", "", kNone, false},
    Row{"events.k8s.io", "v1", "Event", "events", "event", "ev", kNone, false},
    Row{"networking.k8s.io", "v1", "Ingress", "ingresses", "ingress", "ing", kStatus, false},
    Row{"rbac.authorization.k8s.io", "v1", "Role", "roles", "role", "", kNone, false},
    Row{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "rolebinding", "", kNone, false},
    Row{kAdmission, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
        "mutatingwebhookconfiguration", "", kCluster, false},
    Row{kAdmission, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
        "validatingwebhookconfiguration", "", kCluster, false},
    Row{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
        "customresourcedefinition", "crd,crds", kCluster | kStatus, false},
    Row{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass", "pc", kCluster, false},
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::vector<Resource> builtin_resources() {
  std::vector<Resource> resources;
  resources.reserve(kRows.size());
  for (const Row& row : kRows) {
    Resource resource;
    resource.group = row.group;
    resource.version = row.version;
    resource.kind = row.kind;
    resource.list_kind = std::string(row.kind) + "List";
    resource.plural = row.plural;
    resource.singular = row.singular;
    resource.short_names = split(row.short_name);
    if (row.in_all) resource.categories = {"all"};
    resource.namespaced = (row.flags & kCluster) == 0;
    resource.has_status = (row.flags & kStatus) != 0;
    if ((row.flags & kScale) != 0) resource.scale = ScalePaths{".spec.replicas", ".status.replicas", ".spec.selector"};
    resources.push_back(std::move(resource));
  }
  return resources;
}

bool has_generation(const Resource& resource) {
  if (resource.custom) return true;
  for (const char* group : {"apps", "batch", "networking.k8s.io", "apiextensions.k8s.io", kAdmission}) {
    if (resource.group == group) return resource.kind != "ControllerRevision";
  }
  return resource.kind == "PriorityClass" || resource.kind == "PodTemplate" || resource.id() == "pods";
}

bool creates_on_update(const Resource& resource) {
  if (resource.custom) return false;
  for (const char* id : {"leases.coordination.k8s.io", "events", "events.events.k8s.io", "services"}) {
    if (resource.id() == id) return true;
  }
  return false;
}

bool needs_version(const Resource& resource) {
  return resource.custom || resource.kind == "Lease" || resource.group == kAdmission ||
         resource.group == "apiextensions.k8s.io";
}

}  // namespace tpuslice::sim
