// RayPods: imitates the processes of Ray pods, which do not run in the simulator: submitters submit their job and exit
// when it ends, nodes have a Serve proxy.
#pragma once

#include <map>
#include <string>

#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"

namespace tpuslice {

/// Used on the simulator's thread. Cluster, dashboards and clock outlive it.
class RayPods {
 public:
  /// `job_duration`: of the jobs in the dashboards.
  RayPods(sim::Cluster& cluster, sim::RayDashboards& dashboards, const Clock& clock, Duration job_duration)
      : cluster_(cluster), dashboards_(dashboards), clock_(clock), job_duration_(job_duration) {}

  /// Looks at all running pods.
  void step();

 private:
  void run_submitter(const Json& pod, const Json& container, const std::string& submission_id);

  sim::Cluster& cluster_;
  sim::RayDashboards& dashboards_;
  const Clock& clock_;
  const Duration job_duration_;
  std::map<std::string, Instant> submitted_;  ///< By uid of the pod.
};

}  // namespace tpuslice
