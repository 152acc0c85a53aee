#include "cmd/tpu-slice-sim/cluster/nodes/accelerator_tolerations.h"

#include <set>
#include <string>

#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

namespace tpuslice::sim {

namespace {

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

void tolerate_accelerators(Json& pod) {
  for (const std::string& name : accelerators_of(pod)) {
    if (tolerates(tolerations_of(pod), Taint{name, "present", "NoSchedule"})) continue;
    Json& tolerations = pod["spec"]["tolerations"];
    if (!tolerations.is_array()) tolerations = Json::array();
    tolerations.push_back({{"key", name}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  }
}

}  // namespace tpuslice::sim
