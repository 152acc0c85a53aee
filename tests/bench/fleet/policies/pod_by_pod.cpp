#include "tests/bench/fleet/policies/pod_by_pod.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tpuslice::fleet_bench {

void PodByPodPolicy::plan() {
  for (const auto& [job, slice] : slices_in_order()) bind_pods(job, slice);
}

std::vector<std::pair<int, int>> PodByPodPolicy::slices_in_order() {
  std::vector<std::tuple<int, double, int, int>> order;
  for (const int job : run_.waiting()) {
    const std::vector<SliceRun>& slices = run_.run(job).slices;
    for (std::size_t slice = 0; slice < slices.size(); ++slice) {
      if (slices[slice].bound == static_cast<int>(slices[slice].nodes.size())) continue;
      order.emplace_back(-run_.job(job).priority, draws_.uniform(0, 1), job, static_cast<int>(slice));
    }
  }
  std::ranges::sort(order);
  std::vector<std::pair<int, int>> out;
  out.reserve(order.size());
  for (const auto& [priority, draw, job, slice] : order) out.emplace_back(job, slice);
  return out;
}

void PodByPodPolicy::bind_pods(int job, int slice) {
  const DomainId id = domain_for(job, slice);
  if (id < 0) return;
  const Domain& domain = run_.fleet().domains[id];
  for (int host = 0; host < domain.nodes; ++host) {
    // The last host of a job starts it.
    if (run_.run(job).phase != JobPhase::kWaiting || run_.run(job).slices[slice].nodes[host] >= 0) continue;
    for (NodeId node = domain.first_node; node < domain.first_node + domain.nodes; ++node) {
      if (!run_.node(node).is_usable() || run_.node(node).user.job >= 0) continue;
      run_.bind({job, slice, host}, node);
      break;
    }
  }
}

DomainId PodByPodPolicy::domain_for(int job, int slice) {
  const SliceRun& run = run_.run(job).slices[slice];
  const Fleet& fleet = run_.fleet();
  for (std::size_t host = 0; host < run.nodes.size(); ++host) {
    if (run.nodes[host] >= 0) return domain_of({job, slice, static_cast<int>(host)});
  }
  std::vector<DomainId> domains;
  for (const DomainId domain : fleet.shapes[run_.job(job).shape].domains) {
    const Pool& pool = fleet.pools[fleet.domains[domain].pool];
    if (suits(run_.job(job), pool) && may_begin(domain)) domains.push_back(domain);
  }
  if (domains.empty()) return -1;
  const auto drawn = static_cast<std::size_t>(draws_.uniform(0, 1) * static_cast<double>(domains.size()));
  return domains[std::min(drawn, domains.size() - 1)];
}

DomainId PodByPodPolicy::domain_of(const HostRef& host) const {
  const Fleet& fleet = run_.fleet();
  const NodeId node = run_.run(host.job).slices[host.slice].nodes[host.host];
  for (const DomainId domain : fleet.nodes[node].domains) {
    if (fleet.domains[domain].shape == run_.job(host.job).shape) return domain;
  }
  return -1;
}

bool PodByPodPolicy::may_begin(DomainId id) const {
  if (run_.used_nodes(id) > 0) return false;
  const Fleet& fleet = run_.fleet();
  const Domain& domain = fleet.domains[id];
  bool any_usable = false;
  for (NodeId node = domain.first_node; node < domain.first_node + domain.nodes; ++node) {
    any_usable = any_usable || run_.node(node).is_usable();
  }
  if (!any_usable) return false;
  // Pods of a slice of a larger shape keep others out of all of its domain.
  const Pool& pool = fleet.pools[domain.pool];
  if (run_.used_nodes_of_pool(domain.pool) == 0) return true;
  for (NodeId node = pool.first_node; node < pool.first_node + pool.nodes; ++node) {
    const HostRef& user = run_.node(node).user;
    if (user.job < 0) continue;
    const Domain& held = fleet.domains[domain_of(user)];
    if (held.first_node < domain.first_node + domain.nodes && domain.first_node < held.first_node + held.nodes) {
      return false;
    }
  }
  return true;
}

}  // namespace tpuslice::fleet_bench
