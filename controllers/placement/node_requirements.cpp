#include "controllers/placement/node_requirements.h"

#include <algorithm>

#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

void add_hostname(NodeRequirements& requirements, const PodView& pod) {
  const auto hostname = pod.scheduling->node_selector.find(tpu::kHostnameLabel);
  const std::optional<int> host = host_index(pod);
  if (hostname == pod.scheduling->node_selector.end() || !host) return;
  requirements.hostnames.resize(static_cast<std::size_t>(requirements.hosts));
  requirements.hostnames[static_cast<std::size_t>(*host)] = hostname->second;
}

}  // namespace

NodeRequirements node_requirements(const Slice& slice) {
  NodeRequirements requirements;
  requirements.topology_key = slice.topology_key;
  requirements.hosts = slice.size;
  for (const PodPtr& pod : slice.hosts) {
    if (!pod->node_name.empty()) continue;  // A bound pod needs no other node.
    ++requirements.open_hosts;
    requirements.chips = tpu::chips_of(*pod);
    add_hostname(requirements, *pod);
    if (requirements.too_many) continue;
    const bool known = std::ranges::any_of(
        requirements.pods, [&](const PodRequirements& other) { return have_same_requirements(*pod, *other.pod); });
    if (known) continue;
    requirements.too_many = requirements.pods.size() == kMaxRequirementsOfSlice;
    if (!requirements.too_many) requirements.pods.emplace_back(pod);
  }
  return requirements;
}

bool are_equivalent(const NodeRequirements& a, const NodeRequirements& b) {
  return a.topology_key == b.topology_key && a.chips == b.chips && a.hosts == b.hosts && a.too_many == b.too_many &&
         std::ranges::equal(a.pods, b.pods, [](const PodRequirements& left, const PodRequirements& right) {
           return have_same_requirements(*left.pod, *right.pod);
         });
}

}  // namespace tpuslice::placement
