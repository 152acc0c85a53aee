#include "tpu/slice_shape.h"

#include <fmt/format.h>

#include "tpu/geometry.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"

namespace tpuslice::tpu {
namespace {

std::string selector_path(std::string_view label) { return fmt::format("spec.nodeSelector[{}]", label); }

/// Whether slices of this shape are joined from node pools of one cube.
bool joins_cubes(const Accelerator& accelerator, const Topology& selected, const Topology& topology) {
  return accelerator.generation == Generation::kTpu7x && selected.chips() == kCubeChips &&
         topology.chips() > kCubeChips && check_topology(accelerator, topology).ok();
}

}  // namespace

Topology annotated_topology(const Accelerator& accelerator, const Topology& selected, std::string_view annotation) {
  const auto topology = Topology::parse(annotation);
  if (topology && joins_cubes(accelerator, selected, *topology)) return *topology;
  return effective_topology(accelerator, selected, annotation);
}

std::string unknown_accelerator(const Json& pod) {
  std::string label = node_label(pod, kAcceleratorLabel);
  return label.empty() || find_accelerator(label).ok() ? std::string() : label;
}

Result<std::optional<SliceShape>> selected_shape(const Json& pod) {
  const std::string label = node_label(pod, kAcceleratorLabel);
  const std::string selected = node_label(pod, kTopologyLabel);
  const std::string annotated = string_at(pod, {"metadata", "annotations", kSliceTopologyAnnotation});
  if (label.empty() || (selected.empty() && annotated.empty())) return std::optional<SliceShape>();
  const auto accelerator = find_accelerator(label);
  if (!accelerator) return std::optional<SliceShape>();
  const std::string path = selected.empty() ? fmt::format("metadata.annotations[{}]", kSliceTopologyAnnotation)
                                            : selector_path(kTopologyLabel);
  const auto topology = Topology::parse(selected.empty() ? annotated : selected);
  if (!topology) return topology.error().within(path);
  if (const Status legal = check_topology(**accelerator, *topology); !legal) return legal.error().within(path);
  const std::string_view part = selected.empty() ? std::string_view() : annotated;
  return std::optional<SliceShape>({*accelerator, annotated_topology(**accelerator, *topology, part)});
}

std::optional<int> selected_hosts(const Json& pod) {
  const Json* spec = find_path(pod, {"spec"});
  if (spec == nullptr) return std::nullopt;
  const auto containers = tpu_containers(*spec);
  return containers ? selected_hosts(pod, *containers) : std::nullopt;
}

std::optional<int> selected_hosts(const Json& pod, const std::vector<TpuContainer>& containers) {
  if (containers.empty()) return std::nullopt;
  const auto shape = selected_shape(pod);
  if (!shape || !*shape) return std::nullopt;
  const auto hosts = host_count((*shape)->topology, total_chips(containers));
  return hosts ? std::optional<int>(*hosts) : std::nullopt;
}

}  // namespace tpuslice::tpu
