// AdmissionOrder: the order in which Kueue admits workloads, from repeated lists of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// Not thread-safe.
class AdmissionOrder {
 public:
  /// Kueue's Workloads at `now`, which increases from call to call.
  void observe(const std::vector<Json>& workloads, Instant now);

  /// One line for each workload whose quota was reserved although another one of higher priority, or older and of the
  /// same priority, had waited for longer than `slack`. Only the first reservation of each workload counts.
  [[nodiscard]] std::vector<std::string> violations(Duration slack) const;
  /// Number of Workloads that have finished.
  [[nodiscard]] std::size_t finished() const { return finished_; }
  /// Number of Workloads that have quota and have not finished. One whose first Job is complete has less than it asked
  /// for.
  [[nodiscard]] std::size_t reserved() const { return reserved_; }
  /// Priorities of the workloads that were preempted, by name.
  [[nodiscard]] std::map<std::string, std::int64_t> preempted() const;

 private:
  struct Workload {
    std::int64_t priority = 0;
    std::string created;  ///< RFC 3339, whole seconds.
    Instant seen;
    bool has_reserved = false;
    Instant reserved;
    bool preempted = false;
  };

  std::map<std::string, Workload> workloads_;
  std::size_t finished_ = 0;
  std::size_t reserved_ = 0;
};

}  // namespace tpuslice::testing
