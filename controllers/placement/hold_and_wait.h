// Hold and wait: gangs of which some slices run and the others wait. Nothing runs to its end when several of them wait
// for each other's domains, so running slices of the younger ones are preempted.
#pragma once

#include <optional>
#include <vector>

#include "controllers/placement/assignment.h"
#include "controllers/placement/gang.h"
#include "controllers/placement/preemption.h"

namespace tpuslice::placement {

/// A gang that holds domains and has waited for further ones for PlacementRequest::hold_timeout.
struct StalledGang {
  const Gang* gang = nullptr;
  std::vector<const Slice*> lacking;  ///< Its slices that have got no domain, not even a reserved one.
  ExcludedDomains excluded;           ///< Domains that its slices may not use.
};

/// When the gang is stalled, if it gets no domains; absent if it holds none, or `timeout` is none.
[[nodiscard]] std::optional<Timestamp> stalled_at(const Gang& gang, Duration timeout);

/// The running slices of gangs whose domains a gang before them gets. A gang gets all the domains that it lacks or
/// none, and those of the last gang first. `stalled`: in the order of gangs_in_order(). `claimed`: by other gangs.
[[nodiscard]] std::vector<Preemption> preempt_stalled(const std::vector<StalledGang>& stalled, const Claimed& claimed,
                                                      Inventory& inventory, const plan::FailedWrites* failed = nullptr);

}  // namespace tpuslice::placement
