#include "controllers/slice/indexes.h"

#include <optional>
#include <string>

namespace tpuslice::slice {
namespace {

std::optional<std::string> pod_node(const PodView& pod) {
  if (!is_considered(pod) || pod.node_name.empty()) return std::nullopt;
  return pod.node_name;
}

std::optional<std::string> pod_slice(const PodView& pod) {
  if (!in_slice(pod)) return std::nullopt;
  return slice_key(pod).to_string();
}

}  // namespace

Indexes::Indexes(const runtime::PodStores& pods)
    : pods_by_node(pods.add_index(pod_node)), pods_by_slice(pods.add_index(pod_slice)) {}

NodePtr find_tpu_node(const runtime::NodeStore& nodes, const std::string& name) {
  NodePtr node = nodes.get({"", name});
  return node == nullptr || !has_tpus(*node) ? nullptr : node;
}

}  // namespace tpuslice::slice
