// JobSetStatus: .status of a JobSet as it is changed by one plan after another, field by field as upstream writes it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/object.h"
#include "controllers/jobset/spec.h"

namespace tpuslice::jobset {

struct ReplicatedJobStatus {
  int ready = 0;
  int succeeded = 0;
  int failed = 0;
  int active = 0;
  int suspended = 0;
  std::vector<int> restarts;          ///< Of each Job by itself; empty: none ever.
  std::vector<int> counted_restarts;  ///< Those of them that count towards maxRestarts.
  /// How many Jobs are past their start.
  [[nodiscard]] int begun() const { return ready + succeeded + failed; }
};

/// A value.
struct JobSetStatus {
  int restarts = 0;
  int counted_restarts = 0;
  std::string terminal_state;
  std::map<std::string, ReplicatedJobStatus, std::less<>> jobs;  ///< By name.
  Json conditions = Json::array();

  static JobSetStatus read(const Object& jobset);

  /// The whole .status: `before` with what is here put into it. Members that nobody here knows stay.
  [[nodiscard]] Json to_json(const Json& before, const JobSetSpec& spec) const;

  /// Completed or Failed.
  [[nodiscard]] bool finished() const;
  /// Restarts of one Job by itself.
  [[nodiscard]] int restarts_of(std::string_view job, int index) const;
  /// All that count towards maxRestarts.
  [[nodiscard]] int all_counted_restarts() const;
  /// Notes a restart of one Job, of a replicated job with `replicas`.
  void count_restart(const std::string& job, int index, int replicas, bool counted);
};

}  // namespace tpuslice::jobset
