// The LeaderWorkerSets of one slice: what is created, scaled and deleted. Slices do not depend on each other.
//
// Without an old revision that still has replicas, each role has its replicas at once. Otherwise it is a rollout: the
// replicas that the old revisions had when it began are recorded on them, the sets of the new revision are created
// without replicas, and then each step (steps.h) is taken once all replicas of the new revision are ready. An old
// revision is deleted as a whole, when all of its roles have 0 replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "controllers/disaggregatedset/disaggregatedset_state.h"
#include "controllers/disaggregatedset/scalers.h"

namespace tpuslice::disaggregatedset {

struct NewSet {
  std::size_t role = 0;  ///< Index in the spec.
  std::int64_t slice = 0;
  std::int64_t replicas = 0;
  bool begins = false;  ///< Created only once RolloutDecisions::record is done.
};

struct Scaling {
  const RoleSet* set = nullptr;
  std::int64_t replicas = 0;
};

struct RolloutDecisions {
  std::vector<const RoleSet*> record;  ///< Their replicas are recorded: a rollout begins.
  std::vector<NewSet> create;
  std::vector<Scaling> scale_up;
  std::vector<Scaling> scale_down;
  std::vector<Scaling> exchange;        ///< Down, only once all of `scale_up` is done.
  std::vector<const RoleSet*> drained;  ///< Deleted.
  std::vector<std::int64_t> started;    ///< Slices whose rollout begins.
  std::vector<std::int64_t> completed;  ///< Slices whose last old revision is deleted.
  std::vector<std::string> conflicts;   ///< Objects of other owners have the names of sets.
  std::vector<std::string> waits;       ///< What rollouts wait for.
  bool terminating = false;             ///< An object with the name of a set is being deleted.
};

/// Adds the decisions about `slice`.
void decide_slice(const DisaggregatedSetState& state, const ScalerDecisions& scalers, std::int64_t slice,
                  RolloutDecisions& out);

}  // namespace tpuslice::disaggregatedset
