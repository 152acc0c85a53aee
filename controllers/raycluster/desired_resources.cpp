#include "controllers/raycluster/desired_resources.h"

#include <algorithm>
#include <limits>

#include "controllers/raycluster/pods/ray_start.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

using Totals = std::map<std::string, Quantity>;

void add_section(const Json& container, const char* section, Totals& totals, const Json* unless_in) {
  const Json* amounts = find_path(container, {"resources", section});
  if (amounts == nullptr || !amounts->is_object()) return;
  for (const auto& [name, value] : amounts->items()) {
    if (unless_in != nullptr && unless_in->is_object() && unless_in->contains(name)) continue;
    if (const Result<Quantity> quantity = Quantity::from_json(value)) totals[name] += *quantity;
  }
}

Totals pod_totals(const GroupSpec& group) {
  Totals totals;
  const Json* containers =
      group.pod_template == nullptr ? nullptr : find_path(*group.pod_template, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return totals;
  for (const Json& container : *containers) {
    add_section(container, "requests", totals, nullptr);
    add_section(container, "limits", totals, find_path(container, {"resources", "requests"}));
  }
  return totals;
}

std::int32_t saturate(std::int64_t value) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(value, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

DesiredResources desired_resources(const RayClusterSpec& spec) {
  Totals totals = pod_totals(spec.head);
  for (const WorkerGroup& group : spec.groups) {
    if (group.suspended || group.replicas <= 0) continue;
    const std::int64_t pods = std::int64_t{group.hosts} * group.replicas;
    for (const auto& [name, quantity] : pod_totals(group)) totals[name] += quantity * pods;
  }
  DesiredResources out;
  for (const auto& [name, quantity] : totals) {
    if (name == "cpu") out.cpu = quantity;
    if (name == "memory") out.memory = quantity;
    if (name == tpu::kTpuResource) out.tpu = quantity;
    if (is_gpu_resource(name)) out.gpu += quantity;
  }
  return out;
}

DesiredWorkers desired_workers(const RayClusterSpec& spec) {
  std::int64_t desired = 0;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  for (const WorkerGroup& group : spec.groups) {
    if (group.suspended) continue;
    desired += std::int64_t{group.desired_replicas()} * group.hosts;
    minimum += std::int64_t{group.min_replicas} * group.hosts;
    maximum = std::min<std::int64_t>(maximum + std::int64_t{group.max_replicas} * group.hosts,
                                     std::numeric_limits<std::int32_t>::max());
  }
  return {saturate(desired), saturate(minimum), saturate(maximum)};
}

}  // namespace tpuslice::raycluster
