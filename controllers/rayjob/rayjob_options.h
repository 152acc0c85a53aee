// Options of the RayJob controller.
#pragma once

#include <string>

#include "api/base/clock.h"

namespace tpuslice::rayjob {

struct Options {
  std::string cluster_domain = "cluster.local";  ///< DNS suffix of services.
  bool head_cluster_ip = false;                  ///< The same as raycluster::Options::head_cluster_ip.
  Duration poll = std::chrono::seconds(3);       ///< How often the dashboard is asked for the job's status.
  /// The RayJob fails when the dashboard has not responded for this long.
  Duration status_check_timeout = std::chrono::minutes(5);
  /// How long a RayJob whose Ray job has ended waits for its submitter, which still reads the log.
  Duration submitter_grace = std::chrono::minutes(5);
  /// How long the deletion of a RayJob waits for its Ray job to be stopped.
  Duration stop_timeout = std::chrono::seconds(30);
};

}  // namespace tpuslice::rayjob
