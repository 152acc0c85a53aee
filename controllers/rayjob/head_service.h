// The service "<job>-head-svc", which selects the head of the present attempt's cluster.
#pragma once

#include <optional>
#include <string>

#include "controllers/plan/child.h"
#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

[[nodiscard]] std::string head_service_name(const RayJobSpec& spec);

/// What is done about the service.
struct HeadServiceDecision {
  plan::ChildDecision child = {};
  Object desired = {};   ///< What `child` creates.
  Problem problem = {};  ///< Why it is not what it should be.
  std::optional<Duration> requeue_after = {};
  bool keeps_failure = false;  ///< The write that failed last is not tried again yet.
};

/// Creates or restores the service; not for a cluster that spec.clusterSelector names.
[[nodiscard]] HeadServiceDecision decide_head_service(const RayJobState& state);

}  // namespace tpuslice::rayjob
