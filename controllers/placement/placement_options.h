// Options of placement.
#pragma once

#include <set>
#include <string>

#include "controllers/placement/assignment.h"
#include "controllers/placement/scale_up/scale_up.h"

namespace tpuslice::placement {

struct PlacementOptions {
  ScaleUpOptions scale_up = {};
  ReservationLimits reservation = {};
  /// Slices that may be preempted within an hour so that slices of higher priority can be placed, for each accelerator.
  std::size_t max_preemptions_per_hour = 0;
  /// Topology keys that slices may have; empty: any. Slices with others wait, and occupy only the nodes of their pods.
  std::set<std::string, std::less<>> topology_keys = {};
  CapacityOrder capacity_order = kDefaultCapacityOrder;
  /// Waiting reasons name workloads of other namespaces.
  bool show_other_namespaces = false;
  /// A domain in which a slice was lost is used again when all its nodes have been Ready for this long.
  Duration stable_time = std::chrono::seconds(30);
  /// The domain of a slice that lost pods is kept for it for this long.
  Duration keep_domain = std::chrono::minutes(5);
  /// The same while none of its new pods exist: its workload may have given the slice up.
  Duration keep_domain_without_pods = std::chrono::seconds(15);
  Duration hold_timeout = std::chrono::minutes(15);         ///< PlacementRequest::hold_timeout
  Duration waiting_reason_delay = std::chrono::seconds(5);  ///< Younger slices get no waiting reason.
};

}  // namespace tpuslice::placement
