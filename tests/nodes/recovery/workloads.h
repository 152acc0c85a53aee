// The workloads whose recovery is measured: one slice of four hosts, whose containers ignore SIGTERM.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tpuslice::bench {

inline constexpr int kHosts = 4;
inline constexpr const char* kNamespace = "recovery";
inline constexpr const char* kContainer = "host";  ///< Fills its memory after SIGUSR1, beyond its limit.

struct Workload {
  std::string_view name;      ///< "jobset"
  std::string_view resource;  ///< The argument of kubectl.
  std::string_view upstream;  ///< Upstream's operator of it, as tests/upstream/operator names it.
  const char* manifest;       ///< YAML with the words that manifest_of() replaces.
};

/// JobSet, LeaderWorkerSet, RayCluster, and pods that are replaced by hand.
[[nodiscard]] const std::array<Workload, 4>& workloads();

struct ManifestOptions {
  std::string name;
  bool short_teardown = false;  ///< The other hosts get a second when one fails.
  std::string node = {};        ///< Of a pod that is replaced by hand.
};

[[nodiscard]] std::string manifest_of(const Workload& workload, const ManifestOptions& options);

}  // namespace tpuslice::bench
