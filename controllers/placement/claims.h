// Claims: the occupied domains that waiting gangs get next: those whose pods are terminating, and those whose slices
// and pods are preempted for them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/placement/assignment.h"
#include "controllers/placement/domains/candidates.h"
#include "controllers/placement/preemption.h"
#include "controllers/placement/preemption_budget.h"
#include "controllers/placement/reservations.h"

namespace tpuslice::placement {

/// Domains that become free for a gang soon, some of them by preemption.
struct Claim {
  std::string text = {};  ///< For the waiting reason.
  std::vector<CandidateDomain> domains = {};
};

/// The claims of the gangs of one plan, in their order. Not thread-safe.
class Claims {
 public:
  /// All references outlive it.
  Claims(const PlacementRequest& request, Inventory& inventory, const CandidatesBySlice& by_slice)
      : request_(request), inventory_(inventory), by_slice_(by_slice), budget_(request.preemption_budget) {}

  /// Claims domains whose pods are terminating, and preempts slices of lower priority, if that makes room for the whole
  /// gang; without domains otherwise. `free`: number of free domains. `explain`: report what would be preempted if the
  /// budget allowed it.
  [[nodiscard]] Claim claim_for(const Gang& gang, std::map<Candidates*, std::size_t> free, bool explain);
  /// Reserves all domains of the claim and the free ones, regardless of ReservationLimits: slices may have been
  /// preempted for them.
  void reserve(const Gang& gang, const Claim& claim, const ExcludedDomains& excluded);

  [[nodiscard]] const Claimed& claimed() const { return claimed_; }
  /// The preemptions, and the pods among the victims.
  void take(Assignment& out);

 private:
  [[nodiscard]] std::string find_ending(Candidates& candidates, const Claimed& claimed) const;

  const PlacementRequest& request_;
  Inventory& inventory_;
  const CandidatesBySlice& by_slice_;
  PreemptionBudget budget_;  ///< After the preemptions of this plan.
  Claimed claimed_;          ///< By gangs with higher priority.
  PodVictims pod_victims_;
  std::vector<Preemption> preemptions_;
  std::optional<Timestamp> changes_at_;
};

}  // namespace tpuslice::placement
