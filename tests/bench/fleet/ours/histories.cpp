#include "tests/bench/fleet/ours/histories.h"

namespace tpuslice::fleet_bench {

void Histories::record_pod(const PodPtr& before, const PodPtr& after, const NodePtr& node, Timestamp now) {
  failures_.record(placement::failed_domain(nodes_, before, after), now);
  rejections_.record(before, after, now);
  places_.record(before, after, node, now);
}

void Histories::record_node(const std::vector<PodPtr>& pods, const NodePtr& before, const NodePtr& after,
                            Timestamp now) {
  for (const placement::DomainName& domain : placement::failed_domains(pods, before, after)) {
    failures_.record(domain, now);
  }
  health_.record(before, after, now);
  if (after != nullptr) {
    nodes_.put(*after);
  } else if (before != nullptr) {
    nodes_.erase(before->key, 0);
  }
}

void Histories::observe(const placement::PlacementOptions& options, const std::function<bool(const ObjectKey&)>& runs,
                        placement::PlacementObserved& seen) const {
  seen.domain_failures = failures_.recent(seen.now);
  seen.unstable = failures_.unstable(seen.now);
  seen.rejected = rejections_.rejected();
  const std::shared_ptr<const placement::FormerPlaces> all = places_.places();
  for (const auto& [slice, place] : *all) {
    if (seen.now >= place.left + options.keep_domain) continue;
    placement::FormerPlace& kept = seen.places.emplace(slice, place).first->second;
    kept.workload_runs = seen.now < place.left + options.keep_domain_without_pods && runs(slice);
  }
}

void Histories::observe(slice::SliceObserved& seen) const {
  for (const auto& [name, node] : seen.nodes) {
    if (!node->ready) seen.not_ready.emplace(name, health_.not_ready(*node));
  }
}

}  // namespace tpuslice::fleet_bench
