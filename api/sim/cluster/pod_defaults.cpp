#include "api/sim/cluster/pod_defaults.h"

#include <set>
#include <string>

#include "api/sim/cluster/scheduling_info.h"

namespace tpuslice::sim {

namespace {

constexpr int kTolerationSeconds = 300;

void tolerate(Json& spec, Json toleration) {
  Json& list = spec["tolerations"];
  if (!list.is_array()) list = Json::array();
  list.push_back(std::move(toleration));
}

std::set<std::string> accelerators_of(const Json& pod) {
  std::set<std::string> out;
  for (const char* kind : {"containers", "initContainers"}) {
    const Json* containers = find_path(pod, {"spec", kind});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Json& container : *containers) {
      for (const char* name : {"google.com/tpu", "nvidia.com/gpu"}) {
        if (find_path(container, {"resources", "limits", name}) != nullptr ||
            find_path(container, {"resources", "requests", name}) != nullptr) {
          out.insert(name);
        }
      }
    }
  }
  return out;
}

}  // namespace

Json default_pod(Json pod) {
  if (!pod.is_object() || !pod["spec"].is_object()) return pod;
  Json& spec = pod["spec"];
  for (const std::string& name : accelerators_of(pod)) {
    if (!tolerates(tolerations_of(pod), Taint{name, "present", "NoSchedule"})) {
      tolerate(spec, {{"key", name}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
    }
  }
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerates(tolerations_of(pod), Taint{key, "", "NoExecute"})) continue;
    tolerate(
        spec,
        {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kTolerationSeconds}});
  }
  if (string_at(spec, {"serviceAccountName"}).empty()) spec["serviceAccountName"] = "default";
  spec["serviceAccount"] = spec["serviceAccountName"];
  if (find_path(spec, {"priority"}) == nullptr) {
    const std::string priority_class = string_at(spec, {"priorityClassName"});
    std::int64_t priority = 0;
    if (priority_class == "system-cluster-critical") priority = 2'000'000'000;
    if (priority_class == "system-node-critical") priority = 2'000'001'000;
    spec["priority"] = priority;
  }
  return pod;
}

}  // namespace tpuslice::sim
