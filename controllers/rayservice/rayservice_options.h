// Options of the RayService controller.
#pragma once

#include <string>

#include "api/base/clock.h"

namespace tpuslice::rayservice {

struct Options {
  std::string cluster_domain = "cluster.local";  ///< DNS suffix of services.
  bool head_cluster_ip = false;                  ///< The same as raycluster::Options::head_cluster_ip.
  /// How long the slices of a new cluster wait for nodes. After that, the upgrade is taken to have no room.
  Duration room_timeout = std::chrono::seconds(60);
  /// Time until a Serve configuration is sent again after no answer or a server error.
  Duration serve_retry = std::chrono::seconds(10);
  /// Time until a Serve configuration is sent again after it was refused.
  Duration refused_retry = std::chrono::seconds(60);
};

}  // namespace tpuslice::rayservice
