// Preemption: which slices and pods of lower priority are preempted for a gang that has no free domain.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/placement/domains/candidates.h"
#include "controllers/placement/gang.h"
#include "controllers/plan/failed_writes.h"

namespace tpuslice::placement {

/// A domain and the slices that use it.
struct DomainVictims {
  std::string domain;
  std::vector<const Slice*> slices;
};

/// Pods with TPUs that are no placed slice, as slices of size 0, so that they can be preempted, too: single-host
/// slices, slices without gate, and pods without a slice. Their addresses are stable.
class PodVictims {
 public:
  [[nodiscard]] const Slice* of(const PodPtr& pod);
  [[nodiscard]] std::map<ObjectKey, Slice> take() { return std::move(slices_); }

 private:
  std::map<ObjectKey, Slice> slices_;  ///< By the key of the pod.
};

/// Occupied domains that gangs of higher priority get, and the slices that are preempted for that.
struct Claimed {
  std::set<DomainName> domains;
  std::set<const Slice*> victims;
  std::set<std::string> workloads;  ///< Names of those of the victims.
};

/// The name of the victim's workload in Claimed::workloads.
[[nodiscard]] std::string workload_name(const Slice& victim);

/// The occupied candidate, other than those that are claimed, with the cheapest slices and pods to preempt: by the
/// highest of their priorities; then by the number of workloads that lose nothing else, since one that loses a slice of
/// several usually stops; then by the number of hosts; at a tie the ones that were placed last, which lose the least
/// work. All of them must have a lower priority than `priority`. Absent if every candidate has a pod or slice of no
/// lower priority, a pod of a DaemonSet, or one that is preempted for another gang, whose domain overlaps, or whose
/// pods could not be deleted (`failed`, which may be null).
[[nodiscard]] std::optional<DomainVictims> cheapest_victims(Candidates& candidates, Inventory& inventory,
                                                            const RunningSlices& running, std::int32_t priority,
                                                            const Claimed& claimed, PodVictims& pods,
                                                            const plan::FailedWrites* failed = nullptr);

/// No pod of the gang has preemptionPolicy Never, and none could not be released when it had a domain: its victims
/// would restart in vain.
[[nodiscard]] bool may_preempt(const Gang& gang, const plan::FailedWrites* failed = nullptr);

}  // namespace tpuslice::placement
