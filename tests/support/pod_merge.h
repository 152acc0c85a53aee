// The merge patches that the slice controllers send, applied to the view of a pod.
#pragma once

#include "api/types/json.h"
#include "api/types/views.h"

namespace tpuslice::testing {

/// Applies annotations, scheduling gates, node selector, required node affinity and the condition DisruptionTarget; not
/// the resourceVersion.
inline void merge_into(PodView& pod, const Json& patch) {
  if (const Json* annotations = find_path(patch, {"metadata", "annotations"})) {
    for (const auto& [name, value] : annotations->items()) {
      if (value.is_null()) {
        pod.annotations.erase(name);
      } else {
        pod.annotations.insert_or_assign(name, value.get<std::string>());
      }
    }
  }
  if (const Json* gates = find_path(patch, {"spec", "schedulingGates"})) {
    pod.scheduling.edit().gates.clear();
    for (const Json& gate : *gates) pod.scheduling.edit().gates.push_back(gate.at("name").get<std::string>());
  }
  if (const Json* selector = find_path(patch, {"spec", "nodeSelector"})) {
    for (const auto& [key, value] : selector->items())
      pod.scheduling.edit().node_selector.insert_or_assign(key, value.get<std::string>());
  }
  if (const Json* affinity =
          find_path(patch, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"})) {
    pod.scheduling.edit().node_affinity = affinity->dump();
  }
  if (const Json* conditions = find_path(patch, {"status", "conditions"})) {
    for (const Json& each : *conditions) {
      if (each.at("type") == "DisruptionTarget") pod.disruption = each.at("reason").get<std::string>();
    }
  }
}

}  // namespace tpuslice::testing
