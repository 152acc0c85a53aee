// The plan of one accelerator: which of the slices that wait for its nodes are placed now. Equal input
// gives equal plans.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "controllers/placement/accelerator_cache.h"
#include "controllers/placement/placement_options.h"
#include "controllers/placement/placement_render.h"
#include "controllers/placement/preemption_budget.h"
#include "controllers/placement/scale_up/provisioning_request.h"
#include "controllers/placement/slices.h"
#include "controllers/plan/failed_writes.h"

namespace tpuslice::placement {

/// What a plan depends on, beside the pods and nodes.
struct PlacementObserved {
  std::vector<PodPtr> scouts = {};  ///< Scouts of the accelerator.
  DomainFailures domain_failures = {};
  std::set<DomainName> unstable = {};                   ///< Domains in which a slice was lost minutes ago.
  std::shared_ptr<const RejectedSlices> rejected = {};  ///< Null: none.
  FormerPlaces places = {};                             ///< Those that were left within PlacementOptions::keep_domain.
  bool has_autoscaler = false;                          ///< autoscaler_status.h
  ProvisioningState provisioning = {};
  PreemptionState preemptions = {};
  Timestamp now = {};
  std::optional<Timestamp> last_plan = {};  ///< When this accelerator was last planned, if that is known.
  std::shared_ptr<const plan::FailedWrites> failed_writes = {};  ///< Null: none.
};

/// Releases host 0 of each slice that gets a domain, which records that the slice is placed; slice_plan.h releases the
/// other hosts. Writes a waiting reason on host 0 of the other slices, asks for nodes or stops asking (scale_up.h), and
/// preempts slices of lower priority (preemption.h), if the options allow it.
///
/// A slice that lost pods keeps its place in the queue, and for a while its domain.
///
/// A slice whose pods could not be released when it had a domain is left out until that is tried again, so that others
/// get the domain (refused_pods.h).
///
/// All decisions about the nodes of one accelerator are made here, one plan at a time, each after the stores show the
/// writes of the last, so no domain is assigned twice. (Two replicas that both believe to lead could; the pods'
/// anti-affinity then keeps one of the slices out, and it is torn down after scheduling_timeout.)
///
/// `cache`: of the accelerator. Its states become those of `seen.now`, and it keeps comparisons with domains for the
/// next plan, which is the same with a cache that was just read.
[[nodiscard]] plan::Plan plan_placement(const PlacementObserved& seen, AcceleratorCache& cache,
                                        const PlacementOptions& options);

/// Looks at the domains once all slices that get one have it and the others have reserved what they may. All is valid
/// during the call only.
using InspectDomains =
    std::function<void(const PlacementRequest& request, const Assignment& assignment, Inventory& inventory)>;

/// What plan_placement() decides, before it is rendered; it points into `cache`. `inspect`, which may be null, is
/// called once.
[[nodiscard]] PlacementDecisions decide_placement(const PlacementObserved& seen, AcceleratorCache& cache,
                                                  const PlacementOptions& options, const InspectDomains& inspect = {});

/// Adds to `request`, whose time is set, the nodes that the waiting slices have asked for.
void add_asked_nodes(const std::vector<PodPtr>& scouts, const ProvisioningState& provisioning,
                     const ScaleUpOptions& options, PlacementRequest& request);

}  // namespace tpuslice::placement
