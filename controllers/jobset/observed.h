// JobSetObserved: everything that the plan of a JobSet depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/jobset/priorities.h"
#include "controllers/jobset/rules/spec.h"
#include "controllers/plan/reconciler.h"

namespace tpuslice::jobset {

using JobPtr = std::shared_ptr<const JobView>;
using PodPtr = std::shared_ptr<const PodView>;

struct JobSetObserved {
  Typed<JobSetSpec> jobset;
  std::vector<JobPtr> jobs;  ///< With `jobset` as controller owner, by uid.
  /// The service with the subdomain's name, owned or not; null if there is none.
  std::shared_ptr<const ServiceView> service;
  std::vector<std::shared_ptr<const ObjectView>> claims;  ///< Those of spec.volumeClaimPolicies that exist.
  std::vector<PodPtr> waiting;                            ///< Those for which plan::is_waiting() holds.
  Timestamp now;
  std::optional<plan::Failure> last_failure;
  std::vector<PodPtr> pods_with_teardown_grace;  ///< Pods with a tpu::teardown_grace().
  Priorities priorities;                         ///< Those of the classes that its pods have.
};

}  // namespace tpuslice::jobset
