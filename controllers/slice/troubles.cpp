#include "controllers/slice/troubles.h"

#include <algorithm>

#include "tpu/labels.h"

namespace tpuslice::slice {

void Troubles::add(const DomainName& domain, Timestamp now) {
  if (domain.second.empty()) return;
  const MutexLock lock(mutex_);
  std::vector<Timestamp>& times = times_[domain];
  if (!times.empty() && now < times.back() + kSame) return;
  times.push_back(now);
  if (times.size() > kMostOfOne) times.erase(times.begin());
  if (times_.size() <= kMostDomains) return;
  times_.erase(std::ranges::min_element(times_, {}, [](const auto& entry) { return entry.second.back(); }));
}

TroubleCounts Troubles::recent(Timestamp now) const {
  TroubleCounts counts;
  const MutexLock lock(mutex_);
  for (const auto& [domain, times] : times_) {
    const auto recent = std::ranges::count_if(times, [&](Timestamp time) { return now < time + kMemory; });
    if (recent > 1) counts[domain] = static_cast<int>(recent);
  }
  return counts;
}

DomainName trouble_of(const runtime::NodeStore& nodes, const PodPtr& before, const PodPtr& after) {
  if (before == nullptr || before->finished() || annotation(*before, tpu::kSliceMembers).empty()) return {};
  const std::string& key = annotation(*before, tpu::kTopologyKey);
  // A pod that is told to end, ends as failed too.
  const bool failed = after != nullptr && after->phase == PodPhase::kFailed && !after->terminating();
  // A pod without node goes at once when it is deleted: nobody sees it terminating.
  const bool refused = before->node_name.empty() && !is_gated(*before) && (after == nullptr || after->terminating());
  if (!failed && !refused) return {};
  const NodePtr node = before->node_name.empty() ? nullptr : nodes.get({"", before->node_name});
  return {key, domain_of(*before, key, node.get())};
}

std::vector<DomainName> troubles_of(const std::vector<PodPtr>& pods_on_node, const NodePtr& before,
                                    const NodePtr& after) {
  std::vector<DomainName> domains;
  if (before == nullptr || !before->ready || (after != nullptr && after->ready)) return domains;
  for (const PodPtr& pod : pods_on_node) {
    const std::string& key = annotation(*pod, tpu::kTopologyKey);
    if (!is_live(*pod) || annotation(*pod, tpu::kSliceMembers).empty()) continue;
    domains.emplace_back(key, domain_of(*pod, key, before.get()));
  }
  return domains;
}

}  // namespace tpuslice::slice
