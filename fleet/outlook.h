// Outlook: what the placement controller decides next about the slices of one accelerator.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/placement/placement_plan.h"
#include "fleet/snapshot.h"

namespace tpuslice::fleet {

/// A domain, as a waiting slice sees it.
struct DomainView {
  std::string name;
  bool matches = false;  ///< Its nodes are those that the slice asks for.
  bool free = false;     ///< The slice could have it now.
  placement::Obstacle obstacle = placement::Obstacle::kNone;
  std::string why_not;  ///< "v6e-4x4-c has 3 of 4 nodes Ready"; empty if it is free or does not match.
};

/// What is decided about a slice that has no nodes.
struct Verdict {
  ObjectKey slice;                    ///< Namespace and slice key.
  std::optional<std::string> domain;  ///< It is placed there; absent: it waits.
  plan::WaitingCode code = {};        ///< Why it waits.
  std::string reason;
  bool asked_for_nodes = false;   ///< The cluster autoscaler has been asked for nodes for it.
  std::size_t asked_in_gang = 0;  ///< Slices of its gang for which that is so.
  std::size_t position = 0;  ///< 1 + number of gangs before it that wait for the same domains; 0: it is in no queue.
  std::vector<ObjectKey> behind;    ///< A slice of each of the last of these gangs, the nearest first.
  std::size_t wanted = 1;           ///< Domains that its gang needs of these nodes, with those that it has.
  std::size_t slices_together = 1;  ///< Slices of its gang that wait for the same nodes.
  std::size_t slices_ahead = 0;     ///< Slices of the gangs before it that wait for the same domains.
  std::size_t matching = 0;         ///< Domains whose nodes match.
  std::size_t usable = 0;           ///< Those that could be used if they were free.
  std::vector<DomainView> domains;  ///< Filled for the slices that were asked for, by name.
};

struct ReservedDomain {
  ObjectKey slice;                 ///< A slice of the gang that it is reserved for; empty if it is not known.
  std::optional<Timestamp> until;  ///< When the gang yields it.
};

struct Outlook {
  std::map<ObjectKey, Verdict> verdicts;  ///< By slice.
  std::map<placement::DomainName, ReservedDomain> reserved;
  std::set<ObjectKey> preempted;  ///< Slices, and pods without one, that are preempted for others.
};

/// The accelerators of the nodes, and those that pods select.
[[nodiscard]] std::set<std::string> accelerators_of(const Snapshot& snapshot);

/// The options of the operator, but every slice gets its waiting reason at once.
[[nodiscard]] placement::PlacementOptions planning_options(const Snapshot& snapshot);

/// Fills `cache`, which is of that accelerator.
void read_cache(const Snapshot& snapshot, placement::AcceleratorCache& cache);

/// `detailed`: the slices whose Verdict::domains are filled.
[[nodiscard]] Outlook plan_outlook(const Snapshot& snapshot, placement::AcceleratorCache& cache,
                                   const std::set<ObjectKey>& detailed = {});

}  // namespace tpuslice::fleet
