// Preemption: which slices of lower priority are preempted for a gang that has no free domain.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/placement/domains/candidates.h"
#include "controllers/placement/gang.h"
#include "controllers/plan/failed_writes.h"

namespace tpuslice::placement {

/// The placed slices, by key.
using RunningSlices = std::map<ObjectKey, const Slice*>;

/// A domain and the slices that use it.
struct DomainVictims {
  std::string domain;
  std::vector<const Slice*> slices;
};

/// Occupied domains that gangs of higher priority get, and the slices that are preempted for that.
struct Claimed {
  std::set<DomainName> domains;
  std::set<const Slice*> victims;
};

/// The occupied candidate, other than those that are claimed, with the cheapest slices to preempt: by the highest of
/// their priorities, then by the number of hosts; at a tie the ones that were placed last, which lose the least work.
/// All of them must have a lower priority than `priority`. Absent if every candidate has a pod outside of placed
/// slices, or a slice of no lower priority, or one that is preempted for another gang, whose domain overlaps, or one
/// whose pods could not be deleted (`failed`, which may be null).
[[nodiscard]] std::optional<DomainVictims> cheapest_victims(Candidates& candidates, Inventory& inventory,
                                                            const RunningSlices& running, std::int32_t priority,
                                                            const Claimed& claimed,
                                                            const plan::FailedWrites* failed = nullptr);

/// No pod of the gang has preemptionPolicy Never, and none could not be released when it had a domain: its victims
/// would restart in vain.
[[nodiscard]] bool may_preempt(const Gang& gang, const plan::FailedWrites* failed = nullptr);

}  // namespace tpuslice::placement
