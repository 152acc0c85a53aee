// Names of the workloads of a fleet, as people know them: the RayJob, and not the RayCluster that it creates.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fleet/model.h"

namespace tpuslice::fleet {

/// Holds no more than a reference to the snapshot, which outlives it.
class Names {
 public:
  explicit Names(const Snapshot& snapshot);

  /// The workload of the pod: the first object that has it, directly or through others, and that a user creates.
  [[nodiscard]] WorkloadName of(const PodView& pod) const { return all_of(pod).back(); }
  /// All objects that have it, from the one that created it to that workload.
  [[nodiscard]] std::vector<WorkloadName> all_of(const PodView& pod) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  ///< Namespace, kind, name.
  std::map<Key, const Workload*> workloads_;
};

}  // namespace tpuslice::fleet
