#include "tests/bench/fleet/policies/best_fit.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/bench/fleet/policies/queue.h"

namespace tpuslice::fleet_bench {

void BestFitPolicy::plan() {
  const Fleet& fleet = run_.fleet();
  FreeDomains free(run_);
  for (const int job : waiting_in_order(run_, Age::kOfJob)) {
    std::vector<DomainId> domains = free.suitable(run_.job(job));
    const auto slices = static_cast<std::size_t>(run_.job(job).slices);
    if (domains.size() < slices) {
      if (preemptions_per_hour_ > 0) preempt(job, domains.size());
      continue;
    }
    std::ranges::sort(domains, {}, [&](DomainId id) {
      const PoolId pool = fleet.domains[id].pool;
      const int free_nodes = fleet.pools[pool].nodes - run_.used_nodes_of_pool(pool);
      return std::tuple(fleet.pools[pool].spot, free_nodes, id);
    });
    for (std::size_t slice = 0; slice < slices; ++slice) {
      bind_slice(run_, job, static_cast<int>(slice), domains[slice]);
    }
  }
}

std::size_t BestFitPolicy::budget() {
  while (!preempted_.empty() && preempted_.front() + std::chrono::hours(1) <= run_.now()) preempted_.pop_front();
  return preemptions_per_hour_ - std::min(preempted_.size(), preemptions_per_hour_);
}

bool BestFitPolicy::is_ending(DomainId id) const {
  const Domain& domain = run_.fleet().domains[id];
  for (NodeId node = domain.first_node; node < domain.first_node + domain.nodes; ++node) {
    const NodeState& state = run_.node(node);
    if (!state.is_usable() || run_.is_active(state.user)) return false;
  }
  return run_.used_nodes(id) > 0;
}

std::set<int> BestFitPolicy::victims(const Job& job, DomainId id) const {
  const Domain& domain = run_.fleet().domains[id];
  std::set<int> jobs;
  for (NodeId node = domain.first_node; node < domain.first_node + domain.nodes; ++node) {
    const NodeState& state = run_.node(node);
    if (!state.is_usable()) return {};
    if (!run_.is_active(state.user)) continue;
    if (run_.job(state.user.job).priority >= job.priority) return {};
    jobs.insert(state.user.job);
  }
  return jobs;
}

void BestFitPolicy::preempt(int id, std::size_t free) {
  const Job& job = run_.job(id);
  const Fleet& fleet = run_.fleet();
  auto lacking = static_cast<std::size_t>(job.slices) - free;
  std::vector<std::pair<std::tuple<int, Duration, DomainId>, std::set<int>>> candidates;
  for (const DomainId domain : fleet.shapes[job.shape].domains) {
    if (!suits(job, fleet.pools[fleet.domains[domain].pool])) continue;
    if (is_ending(domain) && --lacking == 0) return;  // It waits for pods to terminate.
    std::set<int> jobs = victims(job, domain);
    if (jobs.empty()) continue;
    int priority = 0;
    Timestamp started = run_.trace().start;
    for (const int victim : jobs) {
      priority = std::max(priority, run_.job(victim).priority);
      started = std::max(started, run_.run(victim).started);
    }
    // The cheapest first: of low priority, started last.
    candidates.push_back({{priority, -started.time_since_epoch(), domain}, std::move(jobs)});
  }
  if (candidates.size() < lacking) return;
  std::ranges::sort(candidates, {}, [](const auto& candidate) { return candidate.first; });
  std::set<int> chosen;
  for (std::size_t i = 0; i < lacking; ++i) chosen.insert(candidates[i].second.begin(), candidates[i].second.end());
  if (chosen.size() > budget()) return;
  for (const int victim : chosen) {
    stop(victim, StopCause::kPreempted);
    preempted_.push_back(run_.now());
  }
}

}  // namespace tpuslice::fleet_bench
