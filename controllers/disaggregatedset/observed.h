// DisaggregatedSetObserved: everything that the plan of a DisaggregatedSet depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/disaggregatedset/rules/spec.h"
#include "controllers/plan/reconciler.h"

namespace tpuslice::disaggregatedset {

using ObjectPtr = std::shared_ptr<const ObjectView>;
using ServicePtr = std::shared_ptr<const ServiceView>;

/// Children with `set` as controller owner, and those of other owners with the names that it needs.
struct DisaggregatedSetObserved {
  Typed<DisaggregatedSetSpec> set;
  std::vector<ObjectPtr> leader_worker_sets;
  std::vector<ObjectPtr> scalers;
  std::vector<ServicePtr> services;
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::disaggregatedset
