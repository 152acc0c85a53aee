#include "controllers/placement/rejection_history.h"

#include <algorithm>
#include <tuple>

#include "controllers/plan/unschedulable.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// Without reasons for a pod that kube-scheduler has not tried.
plan::Unschedulable why_without_node(const PodView& pod) {
  if (!pod.unschedulable.empty()) return plan::read_unschedulable(pod);
  if (!pod.scheduling_error.empty()) return {true, pod.scheduling_error};
  const std::string& claims = pod.scheduling->resource_claims;
  return {true, claims.empty() ? std::string() : "its resource claims may not exist: " + claims};
}

}  // namespace

void RejectionHistory::record(const PodPtr& before, const PodPtr& after, Timestamp now) {
  if (before == nullptr || !in_slice(*before) || !before->node_name.empty()) return;
  // A pod without a node is deleted at once, so no watch event shows it terminating.
  if (after != nullptr && !after->terminating()) return;
  const DomainName domain = {before->annotation(tpu::kTopologyKey), before->annotation(tpu::kPlacedIn)};
  if (domain.second.empty()) return;
  const plan::Unschedulable why = why_without_node(*before);
  if (why.reasons.empty()) return;
  const auto placed = parse_rfc3339(before->annotation(tpu::kPlacedAt));
  if (why.temporary && (!placed || now < *placed + kPasses)) return;
  const plan::ObjectReference workload = workload_of(*before);
  const MutexLock lock(mutex_);
  RejectedSlices& slices = writable_locked();
  std::erase_if(slices, [&](const auto& each) { return now >= forgotten_at(each.second); });
  Rejections& known = slices[slice_key(*before)];
  if (known.workload != workload) known = {.workload = workload};
  if (known.times > 0 && domain == known.last_domain && now < known.last + kSameRejection) return;
  ++known.times;
  known.last = now;
  known.last_domain = domain;
  known.reason = why.reasons;
  RejectionsOfDomain& of = known.domains[domain];
  ++of.times;
  of.last = now;
  of.changed = false;
  if (slices.size() <= kMaxSlices) return;
  slices.erase(std::ranges::min_element(slices, {}, [](const auto& entry) { return entry.second.last; }));
}

void RejectionHistory::record(const NodePtr& before, const NodePtr& after) {
  if (before == nullptr || after == nullptr) return;
  const auto choice = [](const NodeView& node) {
    return std::tie(node.labels, node.unschedulable, node.taints, node.allocatable);
  };
  if (choice(*before) == choice(*after)) return;
  const MutexLock lock(mutex_);
  const auto is_of_node = [&](const DomainName& domain) {
    return domain_of_node(*after, domain.first) == domain.second ||
           domain_of_node(*before, domain.first) == domain.second;
  };
  if (slices_->empty()) return;
  for (auto& [slice, rejections] : writable_locked()) {
    for (auto& [domain, of] : rejections.domains) of.changed = of.changed || is_of_node(domain);
  }
}

RejectedSlices& RejectionHistory::writable_locked() {
  if (slices_.use_count() > 1) slices_ = std::make_shared<RejectedSlices>(*slices_);
  return *slices_;
}

std::shared_ptr<const RejectedSlices> RejectionHistory::rejected() const {
  const MutexLock lock(mutex_);
  return slices_;
}

}  // namespace tpuslice::placement
