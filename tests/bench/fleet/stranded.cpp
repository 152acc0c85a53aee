#include "tests/bench/fleet/stranded.h"

#include <vector>

namespace tpuslice::fleet_bench {

int stranded_hosts(const FleetRun& run) {
  const Fleet& fleet = run.fleet();
  std::vector<bool> is_wanted(fleet.shapes.size());
  for (const int job : run.waiting()) is_wanted[run.job(job).shape] = true;
  std::vector<bool> is_stranded(fleet.nodes.size());
  int count = 0;
  for (DomainId id = 0; id < static_cast<DomainId>(fleet.domains.size()); ++id) {
    const Domain& domain = fleet.domains[id];
    if (!is_wanted[domain.shape] || run.used_nodes(id) == 0 || run.used_nodes(id) == domain.nodes) continue;
    for (NodeId node = domain.first_node; node < domain.first_node + domain.nodes; ++node) {
      if (is_stranded[node] || !run.node(node).is_usable() || run.node(node).user.job >= 0) continue;
      is_stranded[node] = true;
      ++count;
    }
  }
  return count;
}

}  // namespace tpuslice::fleet_bench
