#include "controllers/slice/domain_name.h"

#include <fmt/format.h>

#include "tpu/labels.h"

namespace tpuslice::slice {

std::string domain_noun(const std::string& topology_key, std::size_t count) {
  const char* plural = count == 1 ? "" : "s";
  if (topology_key == tpu::kNodePoolLabel) return fmt::format("node pool{}", plural);
  return fmt::format("value{} of {}", plural, topology_key);
}

const std::string& domain_of_node(const NodeView& node, const std::string& topology_key) {
  return value_of(node.labels, topology_key);
}

std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node) {
  if (node != nullptr) return value_of(node->labels, topology_key);
  return pod.annotation(tpu::kPlacedIn);
}

}  // namespace tpuslice::slice
