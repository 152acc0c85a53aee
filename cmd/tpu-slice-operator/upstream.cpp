#include "cmd/tpu-slice-operator/upstream.h"

#include <algorithm>
#include <iterator>

#include "cmd/tpu-slice-operator/kinds.h"

namespace tpuslice {
namespace {

/// One entry for each Lease, with the controllers of all its kinds.
void add(std::vector<runtime::UpstreamController>& all, const kind::Kind& added) {
  auto found = std::ranges::find(all, added.upstream.lease, &runtime::UpstreamController::lease);
  if (found == all.end()) {
    all.push_back({std::string(added.upstream.name), std::string(added.upstream.lease), added.upstream.type, {}});
    found = std::prev(all.end());
  }
  found->controllers.emplace_back(added.controller);
}

}  // namespace

// Without leader election, which KubeRay's and JobSet's charts can turn off, there is no Lease.
std::vector<runtime::UpstreamController> upstream_controllers(const OperatorOptions& options) {
  std::vector<runtime::UpstreamController> all;
  for (const kind::Kind* each : kinds()) {
    if (!each->upstream.exists()) continue;
    if (options.enables(each->controller) && !options.takes_over(each->controller)) add(all, *each);
  }
  return all;
}

}  // namespace tpuslice
