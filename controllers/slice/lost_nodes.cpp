#include "controllers/slice/lost_nodes.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/slice/slice_plan.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// How long the pod's node is not Ready; absent for a node that is Ready or deleted.
std::optional<NotReady> not_ready_node(const PodView& pod, const SliceObserved& seen) {
  const auto node = seen.nodes.find(pod.node_name);
  if (node == seen.nodes.end() || node->second->ready) return std::nullopt;
  const auto known = seen.not_ready.find(pod.node_name);
  return known != seen.not_ready.end() ? known->second : NotReady{node->second->ready_changed.value_or(Timestamp{})};
}

}  // namespace

std::optional<Timestamp> lost_at(const PodView& pod, const SliceObserved& seen, const Options& options) {
  const std::optional<NotReady> node = not_ready_node(pod, seen);
  if (!node) return std::nullopt;
  return node->counts_from.value_or(seen.now) + options.node_timeout;
}

bool has_lost_node(const SliceObserved& seen, const Options& options) {
  return std::ranges::any_of(seen.pods, [&](const PodPtr& pod) {
    if (!is_live(*pod) || pod->annotation(tpu::kSliceMembers).empty()) return false;
    const std::optional<Timestamp> lost = lost_at(*pod, seen, options);
    return lost && seen.now >= *lost;
  });
}

std::string report_of_lost_node(const PodView& pod, const SliceObserved& seen, const Options& options) {
  const NotReady node = not_ready_node(pod, seen).value_or(NotReady{});
  std::string text = fmt::format("node {} of pod {} has not been Ready since {}; ", pod.node_name, pod.key.name,
                                 format_rfc3339(node.since));
  if (!node.counts_from) return text + "no slice is torn down for it while so many nodes are not Ready";
  const Timestamp lost = *node.counts_from + options.node_timeout;
  if (seen.teardown_turn && *seen.teardown_turn > lost) {
    return text + fmt::format("the slice is torn down at {}, after others that have lost a node",
                              format_rfc3339(*seen.teardown_turn));
  }
  return text + fmt::format("the slice is torn down at {} unless it is Ready by then", format_rfc3339(lost));
}

}  // namespace tpuslice::slice
