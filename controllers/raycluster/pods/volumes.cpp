#include "controllers/raycluster/pods/pod_parts.h"

#include <algorithm>
#include <utility>

namespace tpuslice::raycluster {
namespace {

Json& array_of(Json& parent, const char* name) {
  Json& array = parent[name];
  if (!array.is_array()) array = Json::array();
  return array;
}

bool has(const Json& array, const char* member, std::string_view value) {
  return std::ranges::any_of(array, [&](const Json& item) { return string_at(item, {member}) == value; });
}

Json memory_of(const Json& container) {
  Json out = {{"medium", "Memory"}};
  for (const char* section : {"limits", "requests"}) {
    if (const Json* memory = find_path(container, {"resources", section, "memory"}); memory != nullptr) {
      out["sizeLimit"] = *memory;
      break;
    }
  }
  return out;
}

/// The volume `name` at `path` of the container; created as `empty_dir` if the pod has none of that name.
void mount(Json& pod_spec, Json& container, std::string_view name, std::string_view path, Json empty_dir) {
  Json& mounts = array_of(container, "volumeMounts");
  if (has(mounts, "mountPath", path)) return;
  mounts.push_back({{"mountPath", path}, {"name", name}});
  Json& volumes = array_of(pod_spec, "volumes");
  if (!has(volumes, "name", name)) volumes.push_back({{"name", name}, {"emptyDir", std::move(empty_dir)}});
}

}  // namespace

void add_shared_memory(Json& pod_spec, Json& container, const StringMap& ray_start_params) {
  if (ray_start_params.contains("plasma-directory")) return;
  mount(pod_spec, container, "shared-mem", "/dev/shm", memory_of(container));
}

void add_log_volume(Json& pod_spec, Json& container) {
  mount(pod_spec, container, "ray-logs", "/tmp/ray", Json::object());
}

}  // namespace tpuslice::raycluster
