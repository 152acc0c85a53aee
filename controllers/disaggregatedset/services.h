// The services of the roles: one for each LeaderWorkerSet of a revision once every role of it has a ready replica, so
// that a client that finds one role finds all of them.
#pragma once

#include <string>
#include <vector>

#include "controllers/disaggregatedset/disaggregatedset_state.h"
#include "controllers/plan/child.h"

namespace tpuslice::disaggregatedset {

struct RoleService {
  Json desired;
  plan::ChildDecision decision;
  std::string uid;  ///< Uid of the live service; empty without one.
};

struct ServiceDecisions {
  std::vector<RoleService> services;
  std::vector<ServicePtr> remove;  ///< Those of revisions that are gone, and of slices that the spec does not ask for.
};

/// `migrates`: the sets of slice 0 are being replaced (Decisions::legacy), so its services are not changed.
[[nodiscard]] ServiceDecisions decide_services(const DisaggregatedSetState& state, bool migrates);

}  // namespace tpuslice::disaggregatedset
