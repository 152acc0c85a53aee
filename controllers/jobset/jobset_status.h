// JobSetStatus: .status of a JobSet, with the fields and spelling of upstream.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/types/object.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

struct ReplicatedJobStatus {
  int ready = 0;
  int succeeded = 0;
  int failed = 0;
  int active = 0;
  int suspended = 0;
  std::vector<int> restarts;          ///< Restarts of single Jobs by index; empty if there were none.
  std::vector<int> counted_restarts;  ///< Those that count towards maxRestarts.
  /// Number of Jobs that are ready or finished.
  [[nodiscard]] int started() const { return ready + succeeded + failed; }
};

/// Increments a count, unless it is the largest that an int32 can hold.
void add_one(int& count);

/// Counts by name of the replicated job.
using JobCounts = std::map<std::string, ReplicatedJobStatus, std::less<>>;

/// A value.
struct JobSetStatus {
  int restarts = 0;
  int counted_restarts = 0;
  std::optional<int> execution_attempts;  ///< Absent: the JobSet has never been executed.
  std::string terminal_state;
  /// startTime: since when the JobSet has been active, of one with an activeDeadlineSeconds.
  std::optional<Timestamp> started;
  JobCounts jobs;
  Json conditions = Json::array();

  /// A stored count that is negative or larger than an int32 is read as the nearest one that is not.
  static JobSetStatus read(const Object& jobset);

  /// The whole .status: `before` with these fields replaced. Unknown fields stay.
  [[nodiscard]] Json to_json(const Json& before, const JobSetSpec& spec) const;

  /// Completed or Failed.
  [[nodiscard]] bool finished() const;
  /// Restarts of a single Job.
  [[nodiscard]] int restarts_of(std::string_view job, int index) const;
  /// Restarts that count towards maxRestarts, of the JobSet and of single Jobs.
  [[nodiscard]] std::int64_t all_counted_restarts() const;
  /// Counts a restart of a single Job, one of `replicas`.
  void count_restart(const std::string& job, int index, int replicas, bool counted);
};

}  // namespace tpuslice::jobset
