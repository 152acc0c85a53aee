#include "controllers/plan/whole.h"

#include <fmt/format.h>

namespace tpuslice::plan {

Plan leave_as_it_is(const ObjectKey& workload, const ObjectKey& child) {
  Plan plan;
  plan.reason = fmt::format("the operator keeps only the name of {}", child.to_string());
  // A failure of the last plan is neither repaired nor repeated.
  plan.keeps_failure = true;
  if (child == workload) return plan;  // It has an event of its own.
  plan.events.push_back(
      {EventType::kWarning, std::string(kNotRead), "Reconcile",
       fmt::format("The object is left as it is, because the operator keeps only the name of its child "
                   "{}; the events of that object say why",
                   child.name)});
  return plan;
}

}  // namespace tpuslice::plan
