#include "tpu/topology_key.h"

#include <fmt/format.h>

#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/slice_shape.h"

namespace tpuslice::tpu {
namespace {

constexpr std::string_view kSubSlicePrefix = "cloud.google.com/gke-tpu-slice-";
constexpr std::string_view kPartitionPrefix = "cloud.google.com/gke-tpu-partition-";
constexpr std::string_view kIdSuffix = "-id";

/// "<prefix>4x4-id"
bool is_part_label(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix) || !key.ends_with(kIdSuffix)) return false;
  if (key.size() < prefix.size() + kIdSuffix.size()) return false;
  return Topology::parse(key.substr(prefix.size(), key.size() - prefix.size() - kIdSuffix.size())).ok();
}

}  // namespace

std::string gke_topology_key(const Json& pod) {
  if (!string_at(pod, {"spec", "nodeSelector", kDynamicSliceLabel}).empty()) return std::string(kDynamicSliceLabel);
  const std::string annotated = string_at(pod, {"metadata", "annotations", kSliceTopologyAnnotation});
  if (annotated.empty()) return {};
  const auto shape = selected_shape(pod);
  if (!shape || !*shape) return {};
  const auto& [accelerator, topology] = **shape;
  const std::string text = topology.to_string();
  // The annotation does not apply, or names all of the node pool.
  if (text != annotated || text == node_label(pod, kTopologyLabel)) return {};
  const bool tpu7x = accelerator->generation == Generation::kTpu7x;
  if (tpu7x && topology.chips() > kCubeChips) return std::string(kDynamicSliceLabel);
  return fmt::format("{}{}{}", tpu7x ? kPartitionPrefix : kSubSlicePrefix, text, kIdSuffix);
}

bool is_gke_topology_key(std::string_view key) {
  return key == kDynamicSliceLabel || is_part_label(key, kSubSlicePrefix) || is_part_label(key, kPartitionPrefix);
}

}  // namespace tpuslice::tpu
