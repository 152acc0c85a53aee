// Explanations: why the slices of a workload wait, what is ahead of them and what would help; what is wrong with a
// pool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model.h"
#include "fleet/workload_reference.h"

namespace tpuslice::fleet {

/// What an answer means for the one who asks; it decides the exit code of a command.
enum class Answer : std::uint8_t {
  kYes,
  kNotNow,  ///< It can become a yes without anyone doing anything.
  kNever,   ///< Not before someone does something.
};
[[nodiscard]] std::string_view to_string(Answer answer);

/// A domain that the slice asks for, or would if its nodes matched.
struct ExplainedDomain {
  std::string name;
  bool matches = false;
  bool free = false;
  std::string why_not;
  friend bool operator==(const ExplainedDomain&, const ExplainedDomain&) = default;
};

struct AheadInQueue {
  std::int64_t position = 0;
  std::string workload;  ///< "ml/jobset/big"
  std::string text;      ///< "2 slices, reserves v6e-4x4-d until 07:12"
  friend bool operator==(const AheadInQueue&, const AheadInQueue&) = default;
};

struct WorkloadExplanation {
  WorkloadName workload;
  Answer answer = Answer::kYes;
  std::vector<FleetSlice> slices;  ///< Those of the workload, those that wait first.
  std::int64_t waiting = 0;        ///< Number of slices that wait.
  std::int64_t queued = 0;         ///< Gangs that wait for the same nodes as the first slice, with its own.

  // About the first slice that waits.
  std::vector<AheadInQueue> ahead;
  std::vector<ExplainedDomain> domains;
  std::string earliest;            ///< When it may start, one sentence; empty if nothing can be said.
  std::vector<std::string> helps;  ///< What would let it start.
  std::string autoscaler;          ///< What is asked of the cluster autoscaler.

  std::vector<HistoryRecord> history;  ///< The last interruptions, the latest first.
};

struct PoolExplanation {
  Pool pool;
  Answer answer = Answer::kYes;
  std::vector<std::string> problems;   ///< One sentence for each node that has one.
  std::vector<FleetSlice> waiting;     ///< Slices that wait for such pools.
  std::vector<std::string> starts;     ///< Slices that would start if its nodes were repaired.
  std::vector<HistoryRecord> history;  ///< Its last interruptions, the latest first.
};

/// `namespace_name`: empty for all. Errors: NotFound for a workload without TPU pods.
[[nodiscard]] Result<WorkloadExplanation> explain_workload(const Snapshot& snapshot, const Reference& reference,
                                                           const std::string& namespace_name);
/// Errors: NotFound.
[[nodiscard]] Result<PoolExplanation> explain_pool(const Snapshot& snapshot, const std::string& pool);

/// The JSON of an explanation, with the schema tpuslice.dev/fleet.v1.
[[nodiscard]] Json write_explanation(const WorkloadExplanation& explanation);
[[nodiscard]] Json write_explanation(const PoolExplanation& explanation);

}  // namespace tpuslice::fleet
