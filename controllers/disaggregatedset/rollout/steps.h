// The steps of a rollout: how many replicas of each role the old revisions and the new one have next. Pure arithmetic.
//
// All roles progress together: step i of n gives the new revision ceil(i/n) of its target and leaves the old ones
// 1 - floor(i/n) of what they had. The step is derived from the replicas that there are, so that nothing is remembered.
// A step raises the new revision or lowers the old ones; both only where the limits leave no other way.
// Source: upstream's pkg/controllers/disaggregatedset/planner.go; rollout/steps_test.cpp has its results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controllers/disaggregatedset/rules/spec.h"

namespace tpuslice::disaggregatedset {

/// Replicas of one role, in all old revisions together and in the new one.
struct RoleProgress {
  std::int64_t initial_old = 0;  ///< When the rollout began.
  std::int64_t old = 0;
  std::int64_t now = 0;  ///< Those of the new revision.
  std::int64_t target = 0;
  RolloutLimits limits;
};

struct RoleStep {
  std::int64_t old = 0;
  std::int64_t now = 0;
  friend bool operator==(const RoleStep&, const RoleStep&) = default;
};

/// The next numbers, by role. Nothing if the rollout is complete, or if the limits allow no step.
[[nodiscard]] std::optional<std::vector<RoleStep>> next_step(const std::vector<RoleProgress>& roles);

}  // namespace tpuslice::disaggregatedset
