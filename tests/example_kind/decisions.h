// Decisions: what a plan for a Fleet does, before it is rendered.
#pragma once

#include <string>
#include <vector>

#include "controllers/plan/child.h"
#include "tests/example_kind/fleet_state.h"

namespace tpuslice::example {

/// A ship that is deleted as a whole and created again.
struct ShipRestart {
  std::int64_t ship = 0;
  std::vector<PodPtr> pods;  ///< Those that are not terminating yet.
  std::string why;           ///< "pod north-0-1 has failed"
};

struct Decisions {
  plan::ChildDecision service;
  plan::ChildDecision flag;
  std::vector<PodPtr> surplus;  ///< Deleted: the Fleet was scaled down.
  std::vector<ShipRestart> restarts;
  std::vector<HostIndex> create;
};

/// A ship with a terminal pod restarts, and so does one that runs without all of its hosts: libtpu cannot replace one.
/// A ship with a terminating pod waits. The missing hosts of the others are created, those of whole ships up to
/// rules::kMaxCreatesPerPlan.
[[nodiscard]] Decisions decide(const FleetState& state);

}  // namespace tpuslice::example
