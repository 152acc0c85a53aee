// Reconciler: what a workload kind implements. From what the stores hold to a Plan, without I/O.
#pragma once

#include <optional>
#include <string>

#include "api/base/clock.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::runtime {

/// Why the last plan of an object could not be carried out whole; an input of the next one.
struct Failure {
  std::string reason;   ///< Action::failure_reason of the first action that failed.
  std::string message;  ///< What the server said.
};

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
  [[nodiscard]] virtual ResourceType resource() const = 0;  ///< Of the reconciled kind.

  /// Same observation, same plan. An object that is gone has the empty plan.
  ///
  /// Errors: only what makes planning impossible; the key backs off.
  [[nodiscard]] virtual Result<Plan> plan(const ReconcileInput& input) const = 0;
};

}  // namespace tpuslice::runtime
