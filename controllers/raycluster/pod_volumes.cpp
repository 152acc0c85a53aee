#include "controllers/raycluster/pod_volumes.h"

#include <algorithm>

namespace tpuslice::raycluster {
namespace {

constexpr std::string_view kVolume = "shared-mem";
constexpr std::string_view kMountPath = "/dev/shm";

Json& array_of(Json& parent, const char* name) {
  Json& array = parent[name];
  if (!array.is_array()) array = Json::array();
  return array;
}

bool has(const Json& array, const char* member, std::string_view value) {
  return std::ranges::any_of(array, [&](const Json& item) { return string_at(item, {member}) == value; });
}

Json empty_dir(const Json& container) {
  Json out = {{"medium", "Memory"}};
  for (const char* section : {"limits", "requests"}) {
    if (const Json* memory = find_path(container, {"resources", section, "memory"}); memory != nullptr) {
      out["sizeLimit"] = *memory;
      break;
    }
  }
  return out;
}

}  // namespace

void add_shared_memory(Json& pod_spec, Json& container, const StringMap& ray_start_params) {
  if (ray_start_params.contains("plasma-directory")) return;
  Json& mounts = array_of(container, "volumeMounts");
  if (!has(mounts, "mountPath", kMountPath)) {
    mounts.push_back({{"mountPath", kMountPath}, {"name", kVolume}});
    Json& volumes = array_of(pod_spec, "volumes");
    if (!has(volumes, "name", kVolume)) volumes.push_back({{"name", kVolume}, {"emptyDir", empty_dir(container)}});
  }
}

}  // namespace tpuslice::raycluster
