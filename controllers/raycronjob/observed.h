// RayCronJobObserved: everything that the plan of a RayCronJob depends on.
#pragma once

#include <memory>
#include <optional>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/plan/reconciler.h"
#include "controllers/raycronjob/rules/spec.h"

namespace tpuslice::raycronjob {

struct RayCronJobObserved {
  Typed<RayCronJobSpec> cron_job;
  /// The RayJob with the name of the run that is due at `now` (runs.h), of any owner; null if there is none.
  std::shared_ptr<const ObjectView> run;
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::raycronjob
