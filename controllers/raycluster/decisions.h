// Decisions: everything that a plan for one RayCluster decides. render() makes the Plan from them.
#pragma once

#include <optional>
#include <vector>

#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/head.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/raycluster_state.h"
#include "controllers/raycluster/upgrade.h"
#include "controllers/raycluster/workers/worker_groups.h"

namespace tpuslice::raycluster {

struct Decisions {
  std::vector<Child> children;
  std::vector<Service> services;
  std::vector<PodPtr> adopted_pods;  ///< While there are some, no other pod is written.
  UpgradeDecision upgrade;
  bool add_finalizer = false;  ///< Finalizer for the cleanup of Redis.
  HeadDecision head;
  bool create_auth_secret = false;
  WorkerDecision workers;
  /// The time until a refused creation is retried; meanwhile the status reports it. Absent: none was refused.
  std::optional<Duration> retry_after;
  std::vector<PodPtr> suspended_pods;  ///< To delete because of suspension.
};

/// Services, other children and the finalizer are decided always; pods only while none is to be adopted: they are
/// created and replaced, or deleted for a suspension.
[[nodiscard]] Decisions decide(const RayClusterState& state, const Options& options);

/// What a refused spec still asks for: suspension and scaling down need none of what it may be refused for.
[[nodiscard]] Decisions decide_refused(const RayClusterState& state);

}  // namespace tpuslice::raycluster
