#include "cmd/tpu-slice-operator/slice_settings.h"

#include <algorithm>
#include <chrono>

namespace tpuslice {
namespace {

placement::ScaleUpOptions scale_up_options(const OperatorOptions& options, const std::string& namespace_name) {
  placement::ScaleUpOptions result;
  result.mode = placement::ScaleUp::kOff;
  if (options.scale_up == "auto") result.mode = placement::ScaleUp::kAuto;
  if (options.scale_up == "scout") result.mode = placement::ScaleUp::kScout;
  if (options.scale_up == "provisioning-request") result.mode = placement::ScaleUp::kProvisioningRequest;
  result.scouts = options.feature_gates.enabled(kScoutPods);
  result.provisioning_class = options.provisioning_class;
  result.namespace_name = namespace_name;
  result.image = options.scout_image;
  result.max_scale_ups = static_cast<std::size_t>(options.max_scale_ups);
  result.timeout = std::chrono::seconds(options.scale_up_timeout_seconds);
  result.show_hints = options.show_hints;
  return result;
}

placement::CapacityOrder capacity_order(const OperatorOptions& options) {
  const auto rank = [&](std::string_view name) {
    return static_cast<int>(std::ranges::find(options.capacity_order, name) - options.capacity_order.begin());
  };
  return {rank("reservation"), rank("on-demand"), rank("spot")};
}

}  // namespace

std::set<std::string, std::less<>> topology_keys(const OperatorOptions& options) {
  std::set<std::string, std::less<>> keys(options.topology_keys.begin(), options.topology_keys.end());
  keys.insert(options.topology_key);
  return keys;
}

placement::PlacementOptions placement_options(const OperatorOptions& options, const std::string& namespace_name) {
  placement::PlacementOptions result;
  result.topology_keys = topology_keys(options);
  result.show_other_namespaces = options.show_other_namespaces;
  result.capacity_order = capacity_order(options);
  result.scale_up = scale_up_options(options, namespace_name);
  result.reservation = {std::chrono::seconds(options.reservation_timeout_seconds), options.reservation_percent};
  result.hold_timeout = std::chrono::seconds(options.hold_timeout_seconds);
  result.max_preemptions_per_hour = static_cast<std::size_t>(options.max_preemptions_per_hour);
  return result;
}

slice::Options slice_options(const OperatorOptions& options) {
  slice::Options result;
  result.node_timeout = std::chrono::seconds(options.node_timeout_seconds);
  result.disrupted_nodes = options.disrupted_nodes;
  result.disrupted_percent = options.disrupted_percent;
  result.teardown_interval = std::chrono::seconds(options.teardown_interval_seconds);
  result.scheduling_timeout = std::chrono::seconds(options.scheduling_timeout_seconds);
  result.start_timeout = std::chrono::seconds(options.start_timeout_seconds);
  return result;
}

}  // namespace tpuslice
