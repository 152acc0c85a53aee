#include "tests/bench/fleet/policy.h"

#include <algorithm>

#include "api/base/check.h"
#include "tests/bench/fleet/ours/operator_policy.h"
#include "tests/bench/fleet/policies/best_fit.h"
#include "tests/bench/fleet/policies/by_name.h"
#include "tests/bench/fleet/policies/pod_by_pod.h"

namespace tpuslice::fleet_bench {

void Policy::stop(int job, StopCause cause) {
  run_.stop(job, cause);
  const JobRun& stopped = run_.run(job);
  const auto is_lost = [&](NodeId node) { return node >= 0 && !run_.node(node).ready; };
  const bool any_lost = std::ranges::any_of(
      stopped.slices, [&](const SliceRun& slice) { return std::ranges::any_of(slice.nodes, is_lost); });
  const Timestamp gone = run_.now() + kGracePeriod + (any_lost ? kLostPodTimeout : Duration::zero());
  run_.events().add({gone, EventKind::kPodsGone, job, stopped.attempt});
}

void Policy::end_host(const HostRef& host, HostEnd how) {
  stop(host.job, how == HostEnd::kDeleted ? StopCause::kDeleted : StopCause::kLost);
}

void Policy::pods_gone(int job) {
  run_.release_all(job);
  run_.recreate(job);
}

const std::vector<std::string_view>& policy_names() {
  static const std::vector<std::string_view> kNames = {"ours", "by-name", "pod-by-pod", "best-fit"};
  return kNames;
}

std::unique_ptr<Policy> make_policy(std::string_view name, FleetRun& run, const PolicyOptions& options) {
  if (name == "ours") return std::make_unique<OperatorPolicy>(run, options);
  if (name == "by-name") return std::make_unique<ByNamePolicy>(run);
  if (name == "pod-by-pod") return std::make_unique<PodByPodPolicy>(run, options.seed);
  TPUSLICE_CHECK_MSG(name == "best-fit", name);
  return std::make_unique<BestFitPolicy>(run, options.preemptions_per_hour);
}

}  // namespace tpuslice::fleet_bench
