// Reconciler: what a workload kind implements. Returns a Plan from what the stores hold, without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "controllers/plan/plan.h"

namespace tpuslice::plan {

/// Why the last plan of an object was not applied completely; an input of the next one.
struct Failure {
  std::string reason;                        ///< Action::failure_reason of the first action that failed.
  std::string message;                       ///< The server's error.
  Timestamp time = {};                       ///< When it was observed.
  std::string missing_service_account = {};  ///< Name of the one without which a pod is refused; empty for others.
  bool namespace_terminating = false;        ///< Nothing is created in the namespace, which is being deleted.
};

/// Time until a write that failed for `reason` is tried again, kRefusalRetry after the failure. nullopt if that has
/// passed, or if the last failure was another one.
[[nodiscard]] inline std::optional<Duration> until_retry(const std::optional<Failure>& failure, std::string_view reason,
                                                         Timestamp now) {
  if (!failure || failure->reason != reason) return std::nullopt;
  const Timestamp due = failure->time + kRefusalRetry;
  return now < due ? std::optional<Duration>(due - now) : std::nullopt;
}

struct ReconcileInput {
  ObjectKey key;
  Timestamp now;
  std::optional<Failure> last_failure;
};

/// Thread-safe: plan() runs for different keys at the same time, never twice at a time for one.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  [[nodiscard]] virtual std::string name() const = 0;       ///< "raycluster"
  [[nodiscard]] virtual ResourceType resource() const = 0;  ///< Type of the reconciled kind.

  /// Same observation, same plan. The plan of an object that does not exist is empty.
  ///
  /// Errors: only what makes planning impossible; the key backs off.
  [[nodiscard]] virtual Result<Plan> plan(const ReconcileInput& input) const = 0;
};

}  // namespace tpuslice::plan
