// JobPolicies: what a Job's own rules say of its pods: podFailurePolicy, successPolicy, and how long to wait after a
// failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/sim/cluster/job_indexes.h"
#include "api/sim/storage.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// What spec.podFailurePolicy says of a failed pod. Without a rule that matches, the failure counts.
struct FailureRuling {
  bool counts = true;
  bool fails_index = false;
  std::optional<std::string> fails_job = {};  ///< With the message of the condition.
};
[[nodiscard]] FailureRuling rule_on_failure(const Json& job, const Json& pod);

/// The message of the first rule of spec.successPolicy that the indexes satisfy.
[[nodiscard]] std::optional<std::string> satisfied_success_rule(const Json& job, const IndexSet& succeeded);

/// After the first failure 10 s pass before a pod is replaced, and twice as long after each further one, up to 10 min.
[[nodiscard]] Duration pod_back_off(int failures);

/// Failures of a Job's pods since the last success.
class FailureStreak {
 public:
  /// Takes in pods that ended and were not counted before.
  void record(const std::vector<JsonPtr>& succeeded, const std::vector<JsonPtr>& failed);
  /// What is left of the back-off.
  [[nodiscard]] Duration remaining(Timestamp now) const;

 private:
  int failures_ = 0;
  Timestamp last_{};
};

}  // namespace tpuslice::sim
