#include "controllers/placement/failure_history.h"

#include <algorithm>

#include "controllers/slice/indexes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {

void FailureHistory::record(const DomainName& domain, Timestamp now) {
  if (domain.second.empty()) return;
  const MutexLock lock(mutex_);
  std::vector<Timestamp>& times = times_[domain];
  if (!times.empty() && now < times.back() + kSameFailure) return;
  times.push_back(now);
  if (times.size() > kMaxFailuresPerDomain) times.erase(times.begin());
  if (times_.size() <= kMaxDomains) return;
  times_.erase(std::ranges::min_element(times_, {}, [](const auto& entry) { return entry.second.back(); }));
}

DomainFailures FailureHistory::recent(Timestamp now) const {
  DomainFailures counts;
  const MutexLock lock(mutex_);
  for (const auto& [domain, times] : times_) {
    const auto recent = std::ranges::count_if(times, [&](Timestamp time) { return now < time + kWindow; });
    if (recent > 1) counts[domain] = static_cast<int>(recent);
  }
  return counts;
}

std::set<DomainName> FailureHistory::unstable(Timestamp now) const {
  std::set<DomainName> out;
  const MutexLock lock(mutex_);
  for (const auto& [domain, times] : times_) {
    if (now < times.back() + kUnstable) out.insert(domain);
  }
  return out;
}

DomainName failed_domain(const runtime::NodeStore& nodes, const PodPtr& before, const PodPtr& after) {
  if (before == nullptr || before->finished() || before->annotation(tpu::kSliceMembers).empty()) return {};
  const std::string& key = before->annotation(tpu::kTopologyKey);
  // A terminating pod can end as failed, too.
  const bool failed = after != nullptr && after->phase == PodPhase::kFailed && !after->terminating();
  // A pod without a node is deleted at once, so no watch event shows it terminating.
  const bool unscheduled =
      before->node_name.empty() && !is_gated(*before) && (after == nullptr || after->terminating());
  if (!failed && !unscheduled) return {};
  const NodePtr node = slice::find_tpu_node(nodes, before->node_name);
  return {key, domain_of(*before, key, node.get())};
}

std::vector<DomainName> failed_domains(const std::vector<PodPtr>& pods_on_node, const NodePtr& before,
                                       const NodePtr& after) {
  std::vector<DomainName> domains;
  if (before == nullptr || !before->ready || (after != nullptr && (after->ready || after->minimal))) return domains;
  for (const PodPtr& pod : pods_on_node) {
    const std::string& key = pod->annotation(tpu::kTopologyKey);
    if (!is_live(*pod) || pod->annotation(tpu::kSliceMembers).empty()) continue;
    domains.emplace_back(key, domain_of(*pod, key, before.get()));
  }
  return domains;
}

}  // namespace tpuslice::placement
