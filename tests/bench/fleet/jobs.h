// Job: a workload that needs one slice, or several of one shape that start together (a multislice).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "tests/bench/fleet/fleet.h"

namespace tpuslice::fleet_bench {

struct Job {
  int id = 0;  ///< Index in Trace::jobs.
  Timestamp arrives;
  ShapeId shape = 0;
  int slices = 1;
  int priority = 0;
  std::string tenant;  ///< Namespace of its pods.
  std::string zone;    ///< Zone that its pods select; empty: any.
  bool tolerates_spot = false;
  Duration length{};      ///< Of its work, while all its slices run.
  Duration checkpoint{};  ///< Time between two checkpoints. What was done since the last one is lost with a host.
  std::optional<std::int64_t> deadline_seconds;  ///< activeDeadlineSeconds of its pods, if the user gave an estimate.
  int max_restarts = 0;                          ///< It fails with the next one.
};

/// Time from when all pods have nodes until work begins: containers start, the program is compiled, the checkpoint is
/// read.
inline constexpr Duration kStartUp = std::chrono::minutes(4);

[[nodiscard]] inline int hosts_of(const Fleet& fleet, const Job& job) {
  return fleet.shapes[job.shape].hosts * job.slices;
}
/// Whether zone and kind of capacity of the pool suit the job.
[[nodiscard]] inline bool suits(const Job& job, const Pool& pool) {
  return (job.tolerates_spot || !pool.spot) && (job.zone.empty() || job.zone == pool.zone);
}

/// Jobs that arrive between `start` and `end`, by arrival. For each shape their work is `load` of what the chips could
/// do for it in that time.
[[nodiscard]] std::vector<Job> make_jobs(const Fleet& fleet, std::uint64_t seed, double load, Timestamp start,
                                         Timestamp end);

}  // namespace tpuslice::fleet_bench
