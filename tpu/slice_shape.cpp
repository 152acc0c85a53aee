#include "tpu/slice_shape.h"

#include <fmt/format.h>

#include "tpu/geometry.h"
#include "tpu/labels.h"
#include "tpu/pod_request.h"

namespace tpuslice::tpu {
namespace {

std::string selector_path(std::string_view label) { return fmt::format("spec.nodeSelector[{}]", label); }

}  // namespace

Result<std::optional<SliceShape>> selected_shape(const Json& pod) {
  const std::string label = string_at(pod, {"spec", "nodeSelector", kAcceleratorLabel});
  const std::string selected = string_at(pod, {"spec", "nodeSelector", kTopologyLabel});
  const std::string annotated = string_at(pod, {"metadata", "annotations", kSliceTopologyAnnotation});
  if (label.empty() || (selected.empty() && annotated.empty())) return std::optional<SliceShape>();
  const auto accelerator = find_accelerator(label);
  if (!accelerator) return accelerator.error().within(selector_path(kAcceleratorLabel));
  const std::string path = selected.empty() ? fmt::format("metadata.annotations[{}]", kSliceTopologyAnnotation)
                                            : selector_path(kTopologyLabel);
  const auto topology = Topology::parse(selected.empty() ? annotated : selected);
  if (!topology) return topology.error().within(path);
  if (const Status legal = check_topology(**accelerator, *topology); !legal) return legal.error().within(path);
  const std::string_view part = selected.empty() ? std::string_view() : annotated;
  return std::optional<SliceShape>({*accelerator, effective_topology(**accelerator, *topology, part)});
}

std::optional<int> selected_hosts(const Json& pod) {
  const Json* spec = find_path(pod, {"spec"});
  if (spec == nullptr) return std::nullopt;
  const auto containers = tpu_containers(*spec);
  const auto shape = selected_shape(pod);
  if (!containers || containers->empty() || !shape || !*shape) return std::nullopt;
  const auto hosts = host_count((*shape)->topology, total_chips(*containers));
  return hosts ? std::optional<int>(*hosts) : std::nullopt;
}

}  // namespace tpuslice::tpu
