// Workloads of one slice of four hosts each, of every kind.
#pragma once

#include <string>
#include <vector>

namespace tpuslice::testing {

inline constexpr int kHostsOfSlice = 4;

struct SliceWorkload {
  std::string kind;      ///< As kubectl takes it.
  std::string manifest;  ///< YAML; the workload's name is `name`.
};

/// A RayCluster, JobSet, LeaderWorkerSet, Indexed Job and StatefulSet named "<name>-<kind>".
[[nodiscard]] std::vector<SliceWorkload> workloads_of_every_kind(const std::string& name);

/// A JobSet, running or suspended. Its Job has room for failures, so pods that are lost are replaced.
[[nodiscard]] std::string jobset_manifest(const std::string& name, bool suspended);

/// A pod that requests chips and belongs to no workload.
[[nodiscard]] std::string single_pod_manifest(const std::string& name);

}  // namespace tpuslice::testing
