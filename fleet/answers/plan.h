// The plan of a manifest: what would be created for it, and whether its slices fit into the fleet.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fleet/answers/explain.h"
#include "fleet/model.h"

namespace tpuslice::fleet {

/// The objects of one kind that are created.
struct PlannedObjects {
  std::string kind;
  std::vector<std::string> names;  ///< In order.
};

/// A host of a slice.
struct PlannedHost {
  std::string slice;  ///< Name of the slice within its workload.
  int host = 0;
  std::string pod;
  std::string worker_id;                                 ///< TPU_WORKER_ID
  std::string megascale_slice;                           ///< MEGASCALE_SLICE_ID; empty: it is no multislice.
  std::string host_name;                                 ///< Its own entry of TPU_WORKER_HOSTNAMES; else its hostname.
  std::vector<std::pair<std::string, std::string>> env;  ///< Variables of its TPU container, in order.
};

struct ManifestPlan {
  std::vector<PlannedObjects> objects;  ///< Pods are last.
  std::vector<PlannedHost> hosts;       ///< By slice and host.
  std::int64_t chips = 0;               ///< Chips of all hosts.
  Answer answer = Answer::kYes;         ///< Whether all slices fit now.
  std::vector<FleetSlice> slices;       ///< Their verdicts, if they were created now.
  std::int64_t queued = 0;              ///< Gangs in the queue that the first of them would wait in.
  std::string autoscaler;               ///< What would be asked of the cluster autoscaler; empty if they fit.
};

/// `created`: the objects, as they are in an API server after all of them have been created, mutated and placed in a
/// fleet of their own.
[[nodiscard]] ManifestPlan plan_of_objects(const Snapshot& snapshot, const std::vector<Json>& created);

/// The pods of these objects as they are when their controllers have just created them.
[[nodiscard]] std::vector<PodPtr> pods_as_created(const std::vector<Json>& created, Timestamp now);

[[nodiscard]] Json write_plan(const ManifestPlan& plan);

}  // namespace tpuslice::fleet
