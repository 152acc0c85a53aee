// JobPolicies: podFailurePolicy, successPolicy and the back-off after pod failures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/types/json.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_indexes.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// The result of spec.podFailurePolicy for a failed pod. Without a matching rule, the failure counts.
struct FailurePolicyResult {
  bool counts = true;
  bool fails_index = false;
  std::optional<std::string> fails_job = {};  ///< The message of the condition.
};
[[nodiscard]] FailurePolicyResult apply_failure_policy(const Json& job, const Json& pod);

/// The message of the first rule of spec.successPolicy that the indexes satisfy.
[[nodiscard]] std::optional<std::string> satisfied_success_rule(const Json& job, const IndexSet& succeeded);

/// 10 s after the first failure, doubled for each further one, at most 10 min.
[[nodiscard]] Duration pod_back_off(int failures);

/// Failures of a Job's pods since the last success.
class FailureStreak {
 public:
  /// Adds pods that finished and were not counted before.
  void record(const std::vector<JsonPtr>& succeeded, const std::vector<JsonPtr>& failed);
  /// The rest of the back-off.
  [[nodiscard]] Duration remaining(Timestamp now) const;

 private:
  int failures_ = 0;
  Timestamp last_{};
};

}  // namespace tpuslice::sim
