// JobSetObserved: all that a plan for one JobSet depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/views.h"
#include "controllers/runtime/reconciler.h"

namespace tpuslice::jobset {

using JobPtr = std::shared_ptr<const JobView>;

struct JobSetObserved {
  Object jobset;
  std::vector<JobPtr> jobs;  ///< Whose controller is `jobset`, by UID.
  /// The service that has the subdomain's name, whoever owns it; null without.
  std::shared_ptr<const ServiceView> service;
  std::vector<std::shared_ptr<const ObjectView>> claims;  ///< Those of spec.volumeClaimPolicies that exist.
  std::vector<std::shared_ptr<const PodView>> waiting;    ///< Pods of its slices that wait.
  Timestamp now;
  std::optional<runtime::Failure> last_failure;
};

}  // namespace tpuslice::jobset
