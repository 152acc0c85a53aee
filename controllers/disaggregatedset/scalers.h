// The scalers of External roles: which there are, and how many replicas they ask for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/disaggregatedset/disaggregatedset_state.h"

namespace tpuslice::disaggregatedset {

struct NewScaler {
  std::string role;
  /// Those of its LeaderWorkerSets, so that a role that becomes External keeps its replicas; 1 for a role without any:
  /// an autoscaler of Kubernetes does nothing while there are 0.
  std::int64_t replicas = 1;
};

struct ScalerDecisions {
  std::vector<NewScaler> create;
  std::vector<const RoleScaler*> remove;  ///< Their roles are not External any more.
  std::vector<std::string> conflicts;     ///< Objects of other owners have the names of these.
  bool waits = false;                     ///< An object with the name of one is being deleted.
  /// By role; roles without a scaler, because of a conflict, are absent. A new scaler counts.
  std::map<std::string, std::int64_t> replicas;
  std::map<std::string, const RoleScaler*> existing;  ///< By role.
};

[[nodiscard]] ScalerDecisions decide_scalers(const DisaggregatedSetState& state);

/// The replicas that each slice is to have of the role; nothing for an External role without a scaler, whose sets keep
/// theirs.
[[nodiscard]] std::optional<std::int64_t> desired_replicas(const RoleSpec& role, const ScalerDecisions& scalers);

}  // namespace tpuslice::disaggregatedset
