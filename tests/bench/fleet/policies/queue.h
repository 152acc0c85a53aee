// What policies of whole slices share: the order of the waiting jobs, and the domains that are free.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/bench/fleet/fleet_run.h"

namespace tpuslice::fleet_bench {

/// What decides among jobs of the same priority.
enum class Age : std::uint8_t {
  kOfPods,  ///< A job that restarts is young again.
  kOfJob,
};

/// The waiting jobs by priority, then by age.
[[nodiscard]] std::vector<int> waiting_in_order(const FleetRun& run, Age age);

/// The domains that are free, looked up once for each shape. Valid while no domain becomes free.
class FreeDomains {
 public:
  explicit FreeDomains(const FleetRun& run) : run_(run), by_shape_(run.fleet().shapes.size()) {}

  /// Those that the job may use, by name.
  [[nodiscard]] std::vector<DomainId> suitable(const Job& job);
  /// The first of them; absent if there is none.
  [[nodiscard]] std::optional<DomainId> first(const Job& job);

 private:
  [[nodiscard]] const std::vector<DomainId>& of_shape(ShapeId shape);
  [[nodiscard]] bool is_suitable(const Job& job, DomainId domain) const;

  const FleetRun& run_;
  std::vector<std::optional<std::vector<DomainId>>> by_shape_;
};

/// All hosts of the slice get the nodes of the domain.
void bind_slice(FleetRun& run, int job, int slice, DomainId domain);

}  // namespace tpuslice::fleet_bench
