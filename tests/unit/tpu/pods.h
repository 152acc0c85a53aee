// What tests of tpu/ are made of: pods of RayClusters, as KubeRay labels them; accelerators and shapes by name.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"
#include "tpu/catalog.h"

namespace tpuslice::tpu::testing {

inline const Accelerator& accelerator(std::string_view label) { return **find_accelerator(label); }
inline Topology shape(std::string_view text) { return *Topology::parse(text); }

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
    Json containers = Json::array();
    for (std::size_t i = 0; i < chips.size(); ++i) {
      Json container = {{"name", "c" + std::to_string(i)}, {"env", env}};
      container["resources"]["limits"]["google.com/tpu"] = std::to_string(chips[i]);
      containers.push_back(container);
    }
    return {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", cluster + "-" + group + "-worker-x"},
          {"namespace", "default"},
          {"labels",
           {{"ray.io/cluster", cluster},
            {"ray.io/group", group},
            {"ray.io/node-type", "worker"},
            {"ray.io/worker-group-replica-index", std::to_string(replica)},
            {"ray.io/replica-host-index", std::to_string(host)}}}}},
        {"spec",
         {{"containers", containers},
          {"nodeSelector",
           {{"cloud.google.com/gke-tpu-accelerator", accelerator}, {"cloud.google.com/gke-tpu-topology", topology}}}}}};
  }
};

}  // namespace tpuslice::tpu::testing
