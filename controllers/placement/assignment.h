// Assignment: which waiting slice gets which whole, free domain, and why the others get none.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/placement/domains/candidates.h"
#include "controllers/placement/domains/inventory.h"
#include "controllers/placement/gang.h"
#include "controllers/placement/preemption.h"
#include "controllers/placement/preemption_budget.h"
#include "controllers/placement/rejection.h"

namespace tpuslice::placement {

struct Placement {
  const Slice* slice = nullptr;
  std::string domain;
  std::vector<std::string> nodes;  ///< Node of each host, by host index; empty: any node of the domain.
  std::string concern = {};        ///< Candidates::concern() of the domain.
};

struct WaitingSlice {
  const Slice* slice = nullptr;
  slice::WaitingReason reason;
  /// Set if the slice lacks a free domain, so that new nodes would help: the requirements of these nodes. The same
  /// object for slices with equivalent requirements. In a gang, set for as many slices as free domains are missing.
  std::shared_ptr<const NodeRequirements> lacks = {};
};

/// A slice or pod that is preempted so that a slice of higher priority can be placed.
struct Preemption {
  const Slice* victim = nullptr;  ///< A pod if its size is 0 (PodVictims).
  const Slice* preemptor = nullptr;
  std::string domain;
  /// Both are slices of gangs that hold domains and wait (hold_and_wait.h); it does not count towards the budget.
  bool is_exchange = false;
};

struct Assignment {
  std::vector<Placement> placements;
  std::vector<WaitingSlice> waiting;
  std::vector<Preemption> preemptions;
  std::map<ObjectKey, Slice> pod_victims;  ///< Those of the preemptions that are pods.
  std::optional<Timestamp> changes_at;     ///< When the assignment may change without a watch event.
};

/// Free domains are reserved for a gang that waits for further ones. Without bounds, a large gang could keep all nodes
/// idle.
struct ReservationLimits {
  /// A gang reserves domains for this time from when it began to wait, then leaves them to younger slices for the same
  /// time, and so on.
  Duration timeout = std::chrono::minutes(30);
  /// Percentage of all nodes of the accelerator, for all gangs but the first in the queue. With 50 a fleet of
  /// `make bench-fleet` does 2 to 5 % less work, as nodes that wait for a gang are idle.
  std::int64_t percent = 0;
};

/// The slices of one accelerator that are placed.
struct PlacedSlices {
  RunningSlices by_key;
  GangCounts gangs;  ///< Slices that have succeeded count, too.
};

/// A domain that is reserved for the slice that ran in it until it lost pods, from all that have no higher priority.
struct KeptDomain {
  ObjectKey slice;
  DomainName domain;
  std::int32_t priority = 0;
  std::string user;  ///< display_name() of the slice.
};

/// The slices that wait for nodes of one accelerator, and what else decides the order.
struct PlacementRequest {
  std::vector<const Slice*> ready;       ///< All pods exist and wait for nodes only.
  const PlacedSlices* placed = nullptr;  ///< Never null in assign().
  DomainFailures domain_failures = {};   ///< A free domain with fewer failures is preferred.
  /// Domains whose nodes were repaired a moment ago: from when on they are used.
  std::map<DomainName, Timestamp> repaired = {};
  std::vector<KeptDomain> kept = {};  ///< Those of the highest priority are first.
  CapacityOrder capacity_order = kDefaultCapacityOrder;
  const RejectedSlices* rejected = nullptr;           ///< May be null.
  const plan::FailedWrites* failed_writes = nullptr;  ///< May be null.
  /// Waiting reasons name objects of other namespaces.
  bool show_other_namespaces = false;
  /// A gang of which some slices have run while others waited for a domain for this long gives its domains to one
  /// before it in the queue that does the same. Zero: never.
  Duration hold_timeout = std::chrono::minutes(15);
  Timestamp now = {};
  ReservationLimits reservation = {};
  PreemptionBudget preemption_budget = {};
  /// Scout pods that ask for nodes (scouts.h), by the key of their slice; their node, or "".
  std::map<ObjectKey, std::string> scouts = {};
  /// Slices for which provisioning requests may bring nodes (provisioning_request.h).
  std::set<ObjectKey> requested = {};
  [[nodiscard]] bool asks_for_nodes(const ObjectKey& slice) const {
    return scouts.contains(slice) || requested.contains(slice);
  }
};

/// Marks the assigned domains as occupied in `inventory`. The assignment points to the slices of `request`.
///
/// Slices are ordered as gangs_in_order() says. Either all slices of a gang get a domain or none; slices of a gang that
/// was placed before (one slice was torn down, or a crash interrupted the placement) count as placed.
///
/// - A slice without a domain reserves one that it could use later, within ReservationLimits, so that younger slices
///   with overlapping domains cannot starve it. One gang of each namespace does, if it would fit into an empty cluster,
///   counting the nodes that its scouts and provisioning requests ask for. A younger slice may use a reserved domain if
///   it ends before the gang could start (backfill): both are known from activeDeadlineSeconds.
/// - A slice whose pods select kubernetes.io/hostname, as with Kueue's Topology Aware Scheduling, gets these nodes if
///   they are a whole free domain, and no others.
/// - For a gang without enough free domains slices of lower priority are preempted, all that are needed or none.
/// - Gangs that hold domains and wait for those of each other are resolved (hold_and_wait.h).
[[nodiscard]] Assignment assign(const PlacementRequest& request, Inventory& inventory);

}  // namespace tpuslice::placement
