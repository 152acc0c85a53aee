#include "tpu/rules/pod_warnings.h"

#include <fmt/format.h>

#include "tpu/rules/tpu_rules.h"

namespace tpuslice::rules {
namespace {

/// Longer keys are no fields; their subtrees would each have a long path.
constexpr std::size_t kMaxFieldLength = 64;
/// Maximum depth of a pod template: spec.replicatedJobs[0].template.spec.template has 6.
constexpr int kMaxDepth = 8;

/// False if `visit` has returned false.
bool walk(const Json& json, const std::string& path, int depth, const PodVisit& visit) {
  if (depth > kMaxDepth) return true;
  if (find_path(json, {"spec", "containers"}) != nullptr) return visit(json, path);
  if (!json.is_object()) return true;
  for (const auto& [key, value] : json.items()) {
    if (key == "metadata" || key == "status" || key.size() > kMaxFieldLength) continue;
    if (value.is_object() && !walk(value, fmt::format("{}{}.", path, key), depth + 1, visit)) return false;
    if (!value.is_array()) continue;
    for (std::size_t index = 0; index < value.size(); ++index) {
      if (!value[index].is_object()) break;
      if (!walk(value[index], fmt::format("{}{}[{}].", path, key, index), depth + 2, visit)) return false;
    }
  }
  return true;
}

}  // namespace

void for_each_pod(const Json& object, const PodVisit& visit) { walk(object, "", 0, visit); }

void for_each_tpu_pod(const Json& object, const PodVisit& visit) {
  for_each_pod(object,
               [&](const Json& pod, const std::string& path) { return !asks_for_tpus(pod) || visit(pod, path); });
}

}  // namespace tpuslice::rules
