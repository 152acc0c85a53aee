#include "tests/sim/slices/remembered.h"

#include <algorithm>
#include <utility>

#include "tpu/labels.h"

namespace tpuslice::testing {

void RememberedChanges::update() {
  for (; seen_ < world_.changes().size(); ++seen_) {
    const Change& change = world_.changes()[seen_];
    if (change.records_after != nullptr) continue;
    if (change.node) {
      rejections_.record(std::exchange(nodes_[change.key.name], change.node_after), change.node_after);
      continue;
    }
    const PodPtr before = std::exchange(pods_[change.key], change.pod_after);
    const PodPtr& after = change.pod_after;
    rejections_.record(before, after, world_.now());
    const auto node = before == nullptr ? nodes_.end() : nodes_.find(before->node_name);
    places_.record(before, after, node == nodes_.end() ? nullptr : node->second, world_.now());
    if (after == nullptr) {
      pods_.erase(change.key);
    } else if (slice::in_slice(*after)) {
      first_created_.try_emplace(after->label(tpu::kSlice), *after->created);
    }
  }
}

placement::FormerPlaces RememberedChanges::recent_places(Duration keep) const {
  placement::FormerPlaces out;
  for (const auto& [slice, place] : *places_.places()) {
    if (world_.now() >= place.left + keep) continue;
    const auto desired = std::ranges::find(world_.desired(), slice.name, &DesiredSlice::name);
    out.emplace(slice, place).first->second.workload_runs = desired != world_.desired().end() && !desired->deleted;
  }
  return out;
}

std::optional<Timestamp> RememberedChanges::first_created(const std::string& slice) const {
  const auto found = first_created_.find(slice);
  return found == first_created_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tpuslice::testing
