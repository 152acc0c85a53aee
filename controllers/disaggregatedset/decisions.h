// Decisions: what a plan for a DisaggregatedSet does, before it is rendered.
#pragma once

#include <vector>

#include "controllers/disaggregatedset/disaggregatedset_state.h"
#include "controllers/disaggregatedset/rollout/rollout.h"
#include "controllers/disaggregatedset/scalers.h"
#include "controllers/disaggregatedset/services.h"

namespace tpuslice::disaggregatedset {

struct ScalerStatus {
  const RoleScaler* scaler = nullptr;
  Json status;  ///< The whole new one.
};

struct Decisions {
  ScalerDecisions scalers;
  RolloutDecisions rollout;
  ServiceDecisions services;
  std::vector<const RoleSet*> removed;  ///< Deleted: the spec does not ask for their slices.
  /// Deleted, their services first, to be created again with a slice: a service that was made before there were slices
  /// selects the pods of all slices.
  std::vector<const RoleSet*> legacy;
  std::vector<ScalerStatus> scaler_statuses;  ///< Those that differ.

  /// Objects of other owners that have the names of children.
  [[nodiscard]] std::vector<std::string> conflicts() const;
};

[[nodiscard]] Decisions decide(const DisaggregatedSetState& state);

}  // namespace tpuslice::disaggregatedset
