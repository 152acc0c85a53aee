#include "tests/bench/fleet/policies/queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace tpuslice::fleet_bench {

std::vector<int> waiting_in_order(const FleetRun& run, Age age) {
  std::vector<int> jobs(run.waiting().begin(), run.waiting().end());
  std::ranges::sort(jobs, {}, [&](int id) {
    const Timestamp since = age == Age::kOfPods ? run.run(id).created : run.job(id).arrives;
    return std::tuple(-run.job(id).priority, since, id);
  });
  return jobs;
}

const std::vector<DomainId>& FreeDomains::of_shape(ShapeId shape) {
  auto& known = by_shape_[static_cast<std::size_t>(shape)];
  if (!known) {
    known.emplace();
    std::ranges::copy_if(run_.fleet().shapes[static_cast<std::size_t>(shape)].domains, std::back_inserter(*known),
                         [&](DomainId domain) { return run_.is_free(domain); });
  }
  return *known;
}

bool FreeDomains::is_suitable(const Job& job, DomainId domain) const {
  const Fleet& fleet = run_.fleet();
  return run_.is_free(domain) && suits(job, fleet.pools[fleet.domains[domain].pool]);
}

std::vector<DomainId> FreeDomains::suitable(const Job& job) {
  std::vector<DomainId> out;
  std::ranges::copy_if(of_shape(job.shape), std::back_inserter(out),
                       [&](DomainId domain) { return is_suitable(job, domain); });
  return out;
}

std::optional<DomainId> FreeDomains::first(const Job& job) {
  const std::vector<DomainId>& domains = of_shape(job.shape);
  const auto found = std::ranges::find_if(domains, [&](DomainId domain) { return is_suitable(job, domain); });
  return found == domains.end() ? std::nullopt : std::optional(*found);
}

void bind_slice(FleetRun& run, int job, int slice, DomainId domain) {
  const Domain& nodes = run.fleet().domains[domain];
  for (int host = 0; host < nodes.nodes; ++host) run.bind({job, slice, host}, nodes.first_node + host);
}

}  // namespace tpuslice::fleet_bench
